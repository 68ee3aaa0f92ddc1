// Makes `npm start` and `npm test` work as the first command on a fresh clone: installs what package-lock.json names
// when that has not been done since it last changed (npm then builds dist/, so that `npx leasehold` works), then checks
// that the `node` npm puts on the PATH is new enough. It has no dependency and no syntax newer than Node 18, because it
// runs before anything is installed, on whatever Node is there. It does not notice a node_modules folder that was
// edited by hand: delete the folder then.
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, statSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const neededMajor = 24

/** When the file was last written, or 0 when there is none. */
function writtenAt(name) {
  return statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** npm writes node_modules/.package-lock.json last, so a younger one means a finished install of this lockfile. */
function isInstalled() {
  return writtenAt("node_modules/.package-lock.json") > writtenAt("package-lock.json")
}

function install() {
  console.error("leasehold: installing what package-lock.json names (npm ci)")
  // Node 20 may be running npm: its warnings about engines are noise, since Node 24 comes with the install.
  const quietly = ["ci", "--loglevel=error"]
  // npm's own path comes from the npm that runs us; a shell is needed only where `npm` is a script of the system's.
  const npm = process.env.npm_execpath
  const [command, args] = npm === undefined ? ["npm", quietly] : [process.execPath, [npm, ...quietly]]
  const { status } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
  if (status !== 0) {
    console.error(
      `leasehold: npm ci failed (exit ${status}). Read its message above, mend that, and run the same command again.`,
    )
    process.exit(1)
  }
}

/** npm 10, which comes with Node 20, installs the package that brings Node 24 without linking its program. */
function linkNode() {
  const link = join(root, "node_modules", ".bin", "node")
  const program = join("..", `node-${process.platform}-${process.arch}`, "bin", "node")
  if (!existsSync(link) && existsSync(join(dirname(link), program))) symlinkSync(program, link)
}

/** The version of the `node` that the main script of the same npm call will find, such as "24.21.0". */
function nodeVersion() {
  const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(process.platform === "win32" ? ";" : ":")
  return execFileSync("node", ["--version"], { encoding: "utf8", env: { ...process.env, PATH: path } })
    .trim()
    .slice(1)
}

if (!isInstalled()) install()
linkNode()
const version = nodeVersion()
if (Number.parseInt(version, 10) < neededMajor) {
  console.error(
    `leasehold: this needs Node ${neededMajor} or newer, but the node on the PATH is ${version}. ` +
      `On Linux (x64, arm64) npm ci brings one: delete node_modules and run the same command again. ` +
      `Elsewhere install Node ${neededMajor} from nodejs.org and put it first on the PATH.`,
  )
  process.exit(1)
}
