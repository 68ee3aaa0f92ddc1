/** The browser's frames. Not promised: that there are any while the tab is hidden. */

/** Runs once before the next frame. */
export const onNextFrame = (run: () => void): void => {
  requestAnimationFrame(run)
}
