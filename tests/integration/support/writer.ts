/** A worker thread's whole program: one write that nothing but its end, or the end of the process, ends. */

/** Where that program is. */
export function writerUrl(file: string, bytes: number): URL {
  const write = `import("node:fs").then((fs) => fs.writeFileSync(${JSON.stringify(file)}, new Uint8Array(${bytes})))`
  return new URL(`data:text/javascript,${encodeURIComponent(write)}`)
}
