import type { Located, LocateRequest, Piece } from "./protocol.ts";

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

/**
 * Finds the bytes of a key in the simulator's tables.
 *
 * @returns Undefined for a key that does not exist, and for a range that the simulator refuses. The
 *   files of several pieces may be deleted until a lease keeps them.
 */
export function locate(sql: SqlStorage, { key, span }: LocateRequest): Located | undefined {
  const [row] = sql.exec<ObjectRow>("SELECT * FROM _mf_objects WHERE key = ?", key);
  if (!row || (span && span.offset >= row.size)) return undefined;
  const { offset, length = row.size } = span ?? { offset: 0 };
  const end = Math.min(row.size, offset + length);
  const pieces: Piece[] = [];
  let partStart = 0;
  for (const { id, size } of row.blob_id === null
    ? listParts(sql, key)
    : [{ id: row.blob_id, size: row.size }]) {
    const start = Math.max(offset - partStart, 0);
    const stop = Math.min(end - partStart, size);
    partStart += size;
    if (start < stop) pieces.push({ id, start, end: stop - 1 });
  }
  const lengthBytes = end - offset;
  const metadata = formatMetadata(key, row, { offset, length: lengthBytes });
  return { metadata, pieces, lengthBytes, lease: undefined };
}

function listParts(sql: SqlStorage, key: string): { id: string; size: number }[] {
  const query =
    "SELECT blob_id AS id, size FROM _mf_multipart_parts WHERE object_key = ? ORDER BY part_number";
  return sql.exec<{ id: string; size: number }>(query, key).toArray();
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
