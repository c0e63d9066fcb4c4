import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { kindOf } from "../../git/object/kind.ts";
import type { RefEntry } from "../../shapes/git/reference.ts";
import type { Listed, Slice } from "../slice.ts";
import { noSuchRef } from "./no-such-ref.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/**
 * Lists the refs of a snapshot that begin with `refs/<prefix>`, by name.
 *
 * @throws Failure `not_found` if no ref matches.
 */
export function listRefs(
  snapshot: RepositorySnapshot,
  prefix: string,
  { size, offset }: Slice,
): Listed<RefEntry> {
  const start: ByteText = encodeText(`refs/${prefix}`);
  const { catalog } = snapshot.repository;
  const refs = snapshot.state.refs.filter(({ name }) => name.startsWith(start));
  if (refs.length === 0) throw noSuchRef(snapshot);
  const items = refs.slice(offset, offset + size).map(({ name, oid }) => {
    const location = catalog.find(oid);
    if (!location) throw new Error(`a ref leads to ${oid}, which is not there`);
    return { name: name as ByteText, oid, kind: kindOf(catalog.kind(location)) };
  });
  return { items, total: refs.length };
}
