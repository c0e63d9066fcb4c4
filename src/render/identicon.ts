import { toPng } from "jdenticon/node";

/**
 * Draws the default avatar of an account: a PNG that is the same for the same seed.
 *
 * The runtime does the compression, so an update of the runtime may change the bytes, but not the
 * pixels. The work grows with the area; the caller bounds `sizePx`.
 *
 * @param seed   Any text; one that looks like a long hex hash is used as the hash itself.
 * @param sizePx Width and height.
 */
export function renderIdenticon(seed: string, sizePx: number): Uint8Array {
  // An opaque background, so that the image is legible on dark and light pages.
  return new Uint8Array(toPng(seed, sizePx, { backColor: "#ffffff" }));
}
