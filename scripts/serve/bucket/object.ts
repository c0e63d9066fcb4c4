import { locate } from "./locate.ts";
import { LEASE_HEADER, LOCATE, type Piece, RELEASE } from "./protocol.ts";
import type { AbandonableStream } from "./piece-digests.ts";
import { type Blobs, R2BucketObject } from "./simulator.js";

export { default } from "./entrance.ts";
export { BucketReader } from "./reader.ts";

/** What a reader of several files has still to open. */
type Lease = { ids: ReadonlySet<string>; released: Promise<void>; release: () => void };

/** Miniflare's simulator of a bucket, which also answers where the bytes of a key are. */
export class LocalBucket extends R2BucketObject {
  readonly #sql: SqlStorage;
  readonly #leases = new Map<string, Lease>();
  #blobs: Blobs | undefined;

  constructor(state: DurableObjectState, env: object) {
    super(state, env);
    this.#sql = state.storage.sql;
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.method === LOCATE) {
      const located = locate(this.#sql, await request.json());
      if (located && located.pieces.length > 1) located.lease = this.#lease(located.pieces);
      return located ? Response.json(located) : new Response(null, { status: 404 });
    }
    if (request.method !== RELEASE) {
      const response = await super.fetch(request);
      // The simulator has no other errors of writes without R2's own code.
      return response.status === 500 && request.method === "PUT" ? refuseWrite() : response;
    }
    this.#leases.get(request.headers.get(LEASE_HEADER) ?? "")?.release();
    return new Response(null, { status: 204 });
  }

  /**
   * Deletes a file when nobody reads it as one of several. One that is open can be read to its end.
   * Where one can't be written, its sender learns of it.
   */
  override get blob(): Blobs {
    if (this.#blobs) return this.#blobs;
    // One that the simulator keeps: its methods use private fields.
    const blobs = super.blob;
    const remove = blobs.delete.bind(blobs);
    blobs.delete = async (id) => {
      const readers = [...this.#leases.values()].filter(({ ids }) => ids.has(id));
      await Promise.all(readers.map(({ released }) => released));
      await remove(id);
    };
    const put = blobs.put.bind(blobs);
    blobs.put = async (stream: AbandonableStream) => {
      try {
        return await put(stream);
      } catch (error) {
        stream.abandon?.(error);
        throw error;
      }
    };
    this.#blobs = blobs;
    return blobs;
  }

  #lease(pieces: readonly Piece[]): string {
    const ids = new Set(pieces.map(({ id }) => id));
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const name = crypto.randomUUID();
    const release = (): void => {
      this.#leases.delete(name);
      resolve();
    };
    this.#leases.set(name, { ids, released, release });
    return name;
  }
}

/** In R2's form, with the words by which the service knows a full disk. */
function refuseWrite(): Response {
  const error = { version: 1, v4code: 10_001, message: "No space left on device." };
  return new Response(error.message, {
    status: 507,
    headers: { "cf-r2-error": JSON.stringify(error) },
  });
}
