import { type ByteText, readByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import type { PktStream } from "./pkt-stream.ts";
import { BAND_DATA, BAND_ERROR, BAND_PROGRESS } from "./side-band.ts";
import { ServerRefusal } from "./server-refusal.ts";

/**
 * Maximum bytes of progress that are passed on: more is dropped, since a server may send it without
 * end.
 */
const PROGRESS_BYTES_MAX = 1024 * 1024;

/**
 * Reads the side-bands of a response to their flush, and yields what the data band carries: a pack,
 * or a report.
 *
 * @param onProgress Receives the server's progress messages, in pieces of any size.
 * @throws GitError `protocol` for a packet without a band, for a stream that ends without a flush,
 * and for an error of the server, with its message.
 */
export async function* readSideBands(
  packets: PktStream,
  onProgress: (text: ByteText) => void = () => {},
): AsyncGenerator<Uint8Array, void> {
  let progressBytes = 0;
  for (;;) {
    const pkt = await packets.expect();
    if (pkt.kind === "flush") return;
    const band = pkt.kind === "data" ? pkt.payload[0] : undefined;
    if (pkt.kind !== "data" || band === undefined) {
      throw new GitError("protocol", "a packet outside of the side-bands");
    }
    const payload = pkt.payload.subarray(1);
    switch (band) {
      case BAND_DATA:
        if (payload.length > 0) yield payload;
        break;
      case BAND_PROGRESS:
        progressBytes += payload.length;
        if (progressBytes <= PROGRESS_BYTES_MAX) onProgress(readByteText(payload));
        break;
      case BAND_ERROR:
        throw new ServerRefusal(readByteText(payload));
      default:
        throw new GitError("protocol", "a packet outside of the side-bands");
    }
  }
}
