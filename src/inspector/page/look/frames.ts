/** The browser's frames. Not promised: that there are any while the tab is hidden. */

/** Runs once before the next frame. */
export const onNextFrame = (run: () => void): void => {
  requestAnimationFrame(run)
}

/** Asks for a run before the next frame, however often it is called until then. */
export function oncePerFrame(run: () => void): () => void {
  let isAsked = false
  return () => {
    if (isAsked) return
    isAsked = true
    onNextFrame(() => {
      isAsked = false
      run()
    })
  }
}
