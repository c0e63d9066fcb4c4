import type { Ctx } from "../../../context.ts";
import { parseTag, splitTagSignature } from "../../../git/object/tag.ts";
import { TAG } from "../../../git/object/kind.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { tagTarget } from "../../../git/walk/peel.ts";
import { malformed } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import type { AnnotatedTagEntry } from "../../../shapes/git/tag.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { verifySignatures } from "../signatures/verify-signatures.ts";

/**
 * Finds an annotated tag by the id of its object.
 *
 * SECURITY: only a tag that a ref points to, directly or through other tags. Deleted tags stay
 * stored for a while and must not be readable by id.
 *
 * @throws Failure `malformed` if there is no such tag.
 */
export async function findAnnotatedTag(
  ctx: Ctx,
  { state: snapshot, repository: { catalog, objects } }: RepositorySnapshot,
  text: string,
): Promise<AnnotatedTagEntry> {
  const oid = text.toLowerCase();
  const location = (await find(snapshot.refs)) ?? (await find(await snapshot.loadPullRefs()));
  if (!location) throw malformed("there is no annotated tag of that id");
  const content = await objects.readAt(location);
  const tag = parseTag(content);
  const email = tag.tagger?.email;
  return only(
    await verifySignatures(ctx, [{ oid, tag, email, split: splitTagSignature(content) }]),
  );

  async function find(refs: readonly StoredRef[]): Promise<ObjectLocation | undefined> {
    const tags = refs.filter(({ peeledOid }) => peeledOid !== null);
    // Most tags are those that refs name: these are found without a look at the others.
    for (const ref of tags.toSorted((a, b) => Number(b.oid === oid) - Number(a.oid === oid))) {
      const found = await resident(() => {
        let at = catalog.find(ref.oid);
        while (at && catalog.kind(at) === TAG && catalog.oid(at) !== oid) {
          at = tagTarget(catalog, at);
        }
        return at && catalog.oid(at) === oid && catalog.kind(at) === TAG ? at : undefined;
      });
      if (found) return found;
    }
    return undefined;
  }
}
