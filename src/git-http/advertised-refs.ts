import { type ByteText, encodeText } from "../git/byte-text.ts";
import type { AdvertisedRef } from "../git/wire/advertisement.ts";
import type { Snapshot } from "../storage/repository-records.ts";

/** The refs of a repository as advertised to clients. */
export interface RefView {
  /** Ordered by name, without HEAD. */
  readonly refs: readonly AdvertisedRef[];
  /** HEAD, if its branch exists. */
  readonly head: AdvertisedRef | undefined;
  /** The branch that HEAD names, if it does not exist yet. */
  readonly unbornTarget: ByteText | undefined;
}

/** @param defaultBranch The branch that HEAD names before the first push. */
export function viewRefs(snapshot: Snapshot, defaultBranch: string): RefView {
  const target = (snapshot.head ?? `refs/heads/${encodeText(defaultBranch)}`) as ByteText;
  const refs = snapshot.refs.map(({ name, oid, peeledOid }): AdvertisedRef => ({
    name: name as ByteText,
    oid,
    peeledOid: peeledOid ?? undefined,
  }));
  const branch = refs.find(({ name }) => name === target);
  const head = branch && { name: "HEAD" as ByteText, oid: branch.oid, symrefTarget: target };
  return { refs, head, unbornTarget: head ? undefined : target };
}
