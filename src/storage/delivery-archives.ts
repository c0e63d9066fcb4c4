import type { Bucket } from "./bucket.ts";
import { deliveryArchiveKey, deliveryArchivePrefix } from "./keys.ts";

/**
 * Texts about webhook deliveries in the bucket, compressed, by day. Files never change, and each
 * has a name of its own, so that one that nothing refers to is only deleted with its day.
 */
export class DeliveryArchives {
  private readonly bucket: Bucket;

  constructor(bucket: Bucket) {
    this.bucket = bucket;
  }

  /** @returns The name of the new file. */
  async put(text: string, now: number): Promise<string> {
    const name = `${dayOf(now)}/${crypto.randomUUID().replaceAll("-", "").slice(-16)}`;
    const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    await this.bucket.put(deliveryArchiveKey(name), await bytesOf(packed));
    return name;
  }

  /** The text of a file; undefined if its day was deleted. */
  async read(name: string): Promise<string | undefined> {
    const bytes = await this.bucket.readWhole(deliveryArchiveKey(name));
    if (!bytes) return undefined;
    const unpacked = new Blob([bytes as Uint8Array<ArrayBuffer>])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"));
    return new TextDecoder().decode(await bytesOf(unpacked));
  }

  /** Deletes the files of the days before a time. */
  deleteBefore(at: number): Promise<void> {
    return this.bucket.deleteAll(deliveryArchivePrefix, deliveryArchiveKey(dayOf(at)));
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const bytesOf = async (stream: ReadableStream): Promise<Uint8Array> =>
  new Uint8Array(await new Response(stream).arrayBuffer());
