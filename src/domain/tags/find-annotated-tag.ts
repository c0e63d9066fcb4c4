import type { Ctx } from "../../context.ts";
import { parseTag, splitTagSignature } from "../../git/object/tag.ts";
import { TAG } from "../../git/object/kind.ts";
import { tagTarget } from "../../git/walk/peel.ts";
import { malformed } from "../../lib/failure.ts";
import { only } from "../../lib/only.ts";
import type { AnnotatedTagEntry } from "../../shapes/git/tag.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { verifySignatures } from "../signatures/verify-signatures.ts";

/**
 * Finds an annotated tag by the id of its object.
 *
 * SECURITY: only a tag that a ref points to, directly or through other tags. Deleted tags stay stored for a
 * while and must not be readable by id.
 *
 * @throws Failure `malformed` if there is no such tag.
 */
export async function findAnnotatedTag(
  ctx: Ctx,
  { state: snapshot, repository: { catalog, objects } }: RepositorySnapshot,
  text: string,
): Promise<AnnotatedTagEntry> {
  const oid = text.toLowerCase();
  for (const ref of snapshot.refs) {
    let location = ref.peeledOid === null ? undefined : catalog.find(ref.oid);
    while (location && catalog.kind(location) === TAG && catalog.oid(location) !== oid) {
      location = tagTarget(catalog, location);
    }
    if (!location || catalog.oid(location) !== oid || catalog.kind(location) !== TAG) continue;
    const content = await objects.readAt(location);
    const tag = parseTag(content);
    const email = tag.tagger?.email;
    return only(
      await verifySignatures(ctx, [{ oid, tag, email, split: splitTagSignature(content) }]),
    );
  }
  throw malformed("there is no annotated tag of that id");
}
