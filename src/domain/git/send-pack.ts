import { type PackReport, writePack } from "../../git/catalog/pack-writer.ts";
import type { Scratch } from "../../git/store.ts";
import type { FetchPlan } from "../../git/walk/fetch-plan.ts";
import { codec } from "../../storage/codec.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type { Snapshot } from "../../storage/repository-records.ts";
import type { StoredRepository } from "../../storage/storage.ts";

/** Pieces in which a stored pack is passed through, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** Where the objects of a pack are. */
export interface PackOrigin {
  readonly stored: StoredRepository;
  readonly snapshot: Pick<Snapshot, "packs">;
  readonly repository: OpenRepository;
}

/**
 * The bytes of a pack of what a plan wants. Where that is all of the only pack, it is passed through
 * as it is stored.
 *
 * @returns What the pack was made of; undefined if it was passed through.
 */
export async function* sendPack(
  { stored, snapshot, repository }: PackOrigin,
  { wanted, receiverHas }: FetchPlan,
  takesOfsDelta: boolean,
): AsyncGenerator<Uint8Array, PackReport | undefined> {
  const [only, ...others] = snapshot.packs;
  if (only && others.length === 0 && wanted.size === only.objectCount && takesOfsDelta) {
    yield* stored.streamPack(only, PIECE_BYTES);
    return undefined;
  }
  let room: { uploadId: string; scratch: Scratch } | undefined;
  const openScratch = async (): Promise<Scratch> => {
    room = await stored.openScratch(Date.now());
    return room.scratch;
  };
  const options = {
    codec,
    takesOfsDelta,
    openScratch,
    gauge: stored.openGauge(),
    ...(receiverHas && { receiverHas }),
  };
  try {
    return yield* writePack(repository.catalog, repository.objects, wanted, options);
  } finally {
    if (room) await stored.dropUpload(room.uploadId);
  }
}
