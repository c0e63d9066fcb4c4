import type { KnownTrailers, PackReport } from "../../../git/catalog/pack-writer.ts";
import type { Scratch, Spacing } from "../../../git/store.ts";
import type { FetchPlan } from "../../../git/walk/fetch-plan.ts";
import { codec } from "../../../storage/codec.ts";
import { compressor } from "../../../storage/compressor.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { ResultEntry } from "../../../storage/result-cache.ts";
import type { StoredRepository } from "../../../storage/storage.ts";

/** The repository that a pack is made from. */
export interface PackOrigin {
  readonly stored: StoredRepository;
  readonly repository: OpenRepository;
}

/**
 * Streams a pack of the objects that a plan wants.
 *
 * @param spacing How it is laid out in the pieces.
 */
export async function* sendPack(
  { stored, repository }: PackOrigin,
  plan: FetchPlan,
  takesOfsDelta: boolean,
  spacing?: Spacing,
): AsyncGenerator<Uint8Array, PackReport> {
  // Loaded on first use: not in the way of other requests.
  const { writePack } = await import("../../../git/catalog/pack-writer.ts");
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
    spacing,
    trailers: trailersOf(repository, plan, takesOfsDelta),
    gauge: stored.openGauge(),
    ...(receiverHas && { receiverHas }),
  };
  try {
    return yield* writePack(repository.catalog, repository.objects, toPack, options);
  } finally {
    if (upload) await stored.dropUpload(upload.uploadId);
  }
}

/** The trailers of packs that were sent before, by all that determines their bytes. */
function trailersOf(
  { packsKey, results }: OpenRepository,
  { toPack, receiverHas }: FetchPlan,
  takesOfsDelta: boolean,
): KnownTrailers {
  const digests = (): string[] =>
    [toPack, receiverHas].map((objects) => objects?.digest(codec) ?? "");
  let entry: ResultEntry | undefined;
  return {
    find: async () => {
      if (packsKey === undefined) return undefined;
      entry = await results.find(["pack trailer", packsKey, takesOfsDelta, ...digests()]);
      const read = await entry.pieces?.next();
      return read?.value || undefined;
    },
    keep: (trailer) => entry?.keep(trailer),
  };
}
