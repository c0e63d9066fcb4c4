import { toPng } from "jdenticon/node";

/**
 * Draws the picture of somebody who has none: a PNG that is the same for the same seed.
 *
 * The compressor belongs to the runtime, so an update of that may change bytes, never pixels.
 * The work grows with the area; the caller bounds `sizePx`.
 *
 * @param seed   Any text; one that looks like a long hex hash is used as the hash itself.
 * @param sizePx Width and height.
 */
export function renderIdenticon(seed: string, sizePx: number): Uint8Array {
  // An opaque ground: pages are dark or light, and the picture is read on both.
  return new Uint8Array(toPng(seed, sizePx, { backColor: "#ffffff" }));
}
