import type { Ctx } from "../../context.ts";
import { encodeText } from "../../git/byte-text.ts";
import { NULL_OID, type Oid } from "../../git/oid.ts";
import { conflict } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { pushRefs, type RefPush } from "./push-refs.ts";

/** One ref to move, by its full name as people write it. An id left out stands for "not there". */
export interface RefMove {
  readonly ref: string;
  readonly from?: Oid;
  readonly to?: Oid;
}

/**
 * Moves refs, all or none, to objects that are there or that a pack brings along.
 *
 * Whoever calls has judged the names and what is there; what is refused here has been changed by
 * somebody else meanwhile.
 *
 * @throws Failure `conflict` if one is refused; nothing is moved then.
 */
export async function moveRefs(
  ctx: Ctx,
  entry: RepositoryEntry,
  repository: OpenRepository,
  moves: readonly RefMove[],
  extras: Pick<Partial<RefPush>, "uploadId" | "pack" | "headMove"> = {},
): Promise<void> {
  const results = await pushRefs(ctx, entry, {
    uploadId: undefined,
    pack: undefined,
    ...extras,
    commands: moves.map(({ ref, from, to }) => ({
      ref: encodeText(ref),
      oldOid: from ?? NULL_OID,
      newOid: to ?? NULL_OID,
    })),
    isAtomic: true,
    repository,
  });
  for (const result of results) {
    if (result.kind === "refused" && result.reason !== "atomic push failure") {
      throw conflict(`${result.ref}: ${result.reason}`);
    }
  }
}
