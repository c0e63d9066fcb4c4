import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { kindOf } from "../../../git/object/kind.ts";
import type { RefEntry } from "../../../shapes/git/reference.ts";
import type { Listed, Slice } from "../../slice.ts";
import { noSuchRef } from "./no-such-ref.ts";
import type { RepositorySnapshot } from "./open-snapshot.ts";

/**
 * Lists the refs of a snapshot that begin with `refs/<prefix>`, by name.
 *
 * @throws Failure `not_found` if no ref matches.
 */
export async function listRefs(
  snapshot: RepositorySnapshot,
  prefix: string,
  { size, offset }: Slice,
): Promise<Listed<RefEntry>> {
  const start: ByteText = encodeText(`refs/${prefix}`);
  const { catalog } = snapshot.repository;
  const refs = snapshot.state.refs.filter(({ name }) => name.startsWith(start));
  if (refs.length === 0) throw noSuchRef(snapshot);
  const items: RefEntry[] = [];
  for (const { name, oid } of refs.slice(offset, offset + size)) {
    const kind = await resident(() => {
      const location = catalog.find(oid);
      return location && catalog.kind(location);
    });
    if (kind === undefined) throw new Error(`a ref leads to ${oid}, which is not there`);
    items.push({ name: name as ByteText, oid, kind: kindOf(kind) });
  }
  return { items, total: refs.length };
}
