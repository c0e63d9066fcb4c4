import { type ByteText, encodeText } from "../git/byte-text.ts";
import type { AdvertisedRef } from "../git/wire/advertisement.ts";
import type { Snapshot } from "../storage/repository-records.ts";

/** The refs of a repository as clients are told them. */
export interface RefView {
  /** By name, without HEAD. */
  readonly refs: readonly AdvertisedRef[];
  /** HEAD, where its branch exists. */
  readonly head: AdvertisedRef | undefined;
  /** The branch that HEAD names, where that does not exist yet. */
  readonly unbornTarget: ByteText | undefined;
}

/** @param defaultBranch What HEAD names as long as nothing was pushed. */
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
