import { type PackReport, writePack } from "../../../git/catalog/pack-writer.ts";
import type { Scratch } from "../../../git/store.ts";
import type { FetchPlan } from "../../../git/walk/fetch-plan.ts";
import { codec } from "../../../storage/codec.ts";
import { compressor } from "../../../storage/compressor.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { PackRecord, Snapshot } from "../../../storage/repository-records.ts";
import type { StoredRepository } from "../../../storage/storage.ts";

/** Size of the chunks in which a stored pack is streamed, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** The repository that a pack is made from. */
export interface PackOrigin {
  readonly stored: StoredRepository;
  readonly snapshot: Pick<Snapshot, "packs">;
  readonly repository: OpenRepository;
}

/** The repository's only pack, if it is what a plan wants: then it can be sent as it is stored. */
export function findWholePack(
  { packs }: PackOrigin["snapshot"],
  { toPack }: FetchPlan,
  takesOfsDelta: boolean,
): PackRecord | undefined {
  const [only, ...others] = packs;
  if (!only || others.length > 0 || toPack.size !== only.objectCount) return undefined;
  return takesOfsDelta ? only : undefined;
}

/**
 * Streams a pack of the objects that a plan wants. If these are all objects of the repository's
 * only pack, the stored pack is streamed unchanged.
 *
 * @returns A report on the written pack; undefined if the stored pack was streamed.
 */
export async function* sendPack(
  { stored, snapshot, repository }: PackOrigin,
  plan: FetchPlan,
  takesOfsDelta: boolean,
): AsyncGenerator<Uint8Array, PackReport | undefined> {
  const whole = findWholePack(snapshot, plan, takesOfsDelta);
  if (whole) {
    yield* stored.streamPack(whole, PIECE_BYTES);
    return undefined;
  }
  const { toPack, receiverHas } = plan;
  let upload: { uploadId: string; scratch: Scratch } | undefined;
  const openScratch = async (): Promise<Scratch> => {
    upload = await stored.openScratch(Date.now());
    return upload.scratch;
  };
  const options = {
    codec,
    compressor,
    takesOfsDelta,
    openScratch,
    gauge: stored.openGauge(),
    ...(receiverHas && { receiverHas }),
  };
  try {
    return yield* writePack(repository.catalog, repository.objects, toPack, options);
  } finally {
    if (upload) await stored.dropUpload(upload.uploadId);
  }
}
