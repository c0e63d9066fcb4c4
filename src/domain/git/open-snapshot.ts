import { requireAccess } from "../../auth/access/require-access.ts";
import type { Requirement } from "../../auth/access/requirement.ts";
import type { Ctx } from "../../context.ts";
import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type { Snapshot, StoredRef } from "../../storage/repository-records.ts";

/** The code of a repository at one moment, open for reading. */
export interface RepositorySnapshot {
  readonly state: Snapshot;
  readonly repository: OpenRepository;
}

const TO_READ_CODE: Requirement = { unit: "code", mode: "read" };

/**
 * Opens the code of a repository, for those who may read it.
 *
 * Cost: one call of the repository's object, and two reads for each pack that is not known near by.
 *
 * @throws Failure `not_found` for those who may not read the code unit, and where it is switched off.
 */
export async function openSnapshot(ctx: Ctx, repo: RepositoryContext): Promise<RepositorySnapshot> {
  requireAccess(repo, TO_READ_CODE);
  const stored = ctx.git.repository(repo.row);
  const snapshot = await stored.snapshot();
  return { state: snapshot, repository: await stored.open(snapshot) };
}

/**
 * Opens two repositories of one network side by side: their packs as one, so that what one has can be
 * compared with what the other has.
 *
 * SECURITY: each keeps its own refs, and only what these reach may be told of it.
 *
 * Cost: the two objects are asked at once.
 *
 * @throws Failure `not_found` where the caller may not read the code unit of both.
 */
export async function openSideBySide(
  ctx: Ctx,
  left: RepositoryContext,
  right: RepositoryContext,
): Promise<readonly [RepositorySnapshot, RepositorySnapshot]> {
  if (left.row.id === right.row.id) {
    const snapshot = await openSnapshot(ctx, left);
    return [snapshot, snapshot];
  }
  const isOneNetwork = left.row.networkName === right.row.networkName;
  if (!isOneNetwork) throw notFound();
  for (const each of [left, right]) requireAccess(each, TO_READ_CODE);
  const [stored, other] = [ctx.git.repository(left.row), ctx.git.repository(right.row)];
  const [leftSnapshot, rightSnapshot] = await Promise.all([stored.snapshot(), other.snapshot()]);
  const packs = new Map(
    [...leftSnapshot.packs, ...rightSnapshot.packs].map((pack) => [pack.name, pack]),
  );
  const repository = await stored.open({ packs: [...packs.values()] });
  return [
    { state: leftSnapshot, repository },
    { state: rightSnapshot, repository },
  ];
}

/** A ref by its full name, as people write it. */
export function findRef(
  { state: snapshot }: Pick<RepositorySnapshot, "state">,
  fullName: string,
): StoredRef | undefined {
  const { refs } = snapshot;
  const name: ByteText = encodeText(fullName);
  let low = 0;
  let high = refs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((refs[middle] as StoredRef).name < name) low = middle + 1;
    else high = middle;
  }
  return refs[low]?.name === name ? refs[low] : undefined;
}
