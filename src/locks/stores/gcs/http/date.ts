/**
 * The `Date` of an answer, as Unix milliseconds. HTTP has one form of it (IMF-fixdate, RFC 9110) that is still sent;
 * the two obsolete ones are not read. Whole seconds, rounded down by the server.
 */

const form = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

let lastText = ""
let lastTime: number | undefined

/** Undefined where the text is no such date. Answers within one second carry the same text, which is read once. */
export function httpDate(text: string): number | undefined {
  if (text !== lastText) {
    lastTime = parse(text)
    lastText = text
  }
  return lastTime
}

function parse(text: string): number | undefined {
  const match = form.exec(text)
  if (match === null) return undefined
  const [day = 0, , year = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  const month = months.indexOf(match[2] ?? "")
  if (month < 0) return undefined
  return ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1000
}

/** Counts years from March, so that a leap day is the last day of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month < 2 ? year - 1 : year
  const sinceMarch = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1
  const leaps = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leaps + sinceMarch - 719_468
}
