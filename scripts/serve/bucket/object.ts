import {
  LEASE_HEADER,
  LOCATE,
  type Located,
  type Piece,
  RELEASE,
  type LocateRequest,
} from "./protocol.ts";
import type { AbandonableStream } from "./piece-digests.ts";
import { type Blobs, R2BucketObject } from "./simulator.js";

export { default } from "./entrance.ts";

/** A row of the simulator's table of keys. */
type ObjectRow = {
  blob_id: string | null;
  version: string;
  size: number;
  etag: string;
  uploaded: number;
  checksums: string;
  http_metadata: string;
  custom_metadata: string;
};

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
      const located = this.#locate(await request.json());
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

  /**
   * @returns Undefined for a key that does not exist, and for a range that the simulator refuses.
   */
  #locate({ key, span }: LocateRequest): Located | undefined {
    const [row] = this.#sql.exec<ObjectRow>("SELECT * FROM _mf_objects WHERE key = ?", key);
    if (!row || (span && span.offset >= row.size)) return undefined;
    const { offset, length = row.size } = span ?? { offset: 0 };
    const end = Math.min(row.size, offset + length);
    const ids = new Set<string>();
    const pieces: Piece[] = [];
    let partStart = 0;
    for (const { id, size } of row.blob_id === null
      ? this.#listParts(key)
      : [{ id: row.blob_id, size: row.size }]) {
      const start = Math.max(offset - partStart, 0);
      const stop = Math.min(end - partStart, size);
      partStart += size;
      if (start >= stop) continue;
      ids.add(id);
      pieces.push({ id, start, end: stop - 1 });
    }
    const lengthBytes = end - offset;
    return {
      metadata: formatMetadata(key, row, { offset, length: lengthBytes }),
      pieces,
      lengthBytes,
      lease: pieces.length > 1 ? this.#lease(ids) : undefined,
    };
  }

  #listParts(key: string): { id: string; size: number }[] {
    const query =
      "SELECT blob_id AS id, size FROM _mf_multipart_parts WHERE object_key = ? ORDER BY part_number";
    return this.#sql.exec<{ id: string; size: number }>(query, key).toArray();
  }

  #lease(ids: ReadonlySet<string>): string {
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

/** As the simulator formats it. */
function formatMetadata(
  key: string,
  { version, size, etag, uploaded, ...row }: ObjectRow,
  range: { offset: number; length: number },
): string {
  const checksums = JSON.parse(row.checksums) as Record<string, string | undefined>;
  const customMetadata = JSON.parse(row.custom_metadata) as Record<string, string>;
  return JSON.stringify({
    name: key,
    version,
    size,
    etag,
    uploaded,
    httpFields: JSON.parse(row.http_metadata) as unknown,
    customFields: Object.entries(customMetadata).map(([k, v]) => ({ k, v })),
    range,
    checksums: {
      // The tag of what was written at once is its MD5 sum.
      0: /^[0-9a-f]{32}$/i.test(etag) ? etag : checksums["md5"],
      1: checksums["sha1"],
      2: checksums["sha256"],
      3: checksums["sha384"],
      4: checksums["sha512"],
    },
  });
}
