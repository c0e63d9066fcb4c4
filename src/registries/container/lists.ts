import { listImages } from "../../domain/packages/images/list-images.ts";
import { listReferrers, type Referrer } from "../../domain/packages/images/list-referrers.ts";
import { listImageTags } from "../../domain/packages/images/list-image-tags.ts";
import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import { authenticate } from "../../entrance/authenticate.ts";
import { notFound } from "../../lib/failure.ts";
import { incoming } from "../door.ts";
import type { RegistryContext } from "../env.ts";
import { enterImage, requireCredential, requireImage } from "./enter-image.ts";
import { requireDigest } from "./names.ts";
import { readRegistryCredential } from "./token.ts";

/** Items of a page, where the client asks for no fewer. */
const PAGE_MAX = 1000;
/** Referrers of a page: with their annotations less than the 4 MiB that clients read. */
const REFERRERS_MAX = 50;

export async function getTags(c: RegistryContext, image: string): Promise<Response> {
  const limit = readLimit(c);
  const request = await enterImage(c, image, "read");
  const pkg = requireImage(request);
  const after = c.req.query("last") ?? "";
  // One more, to know whether there is another page.
  const found =
    limit === 0 ? [] : await listImageTags(request.ctx, pkg, { limit: limit + 1, after });
  const tags = found.slice(0, limit);
  if (found.length > limit) setNext(c, `${request.path}/tags/list`, tags.at(-1));
  return c.json({ name: `${request.owner.account.name}/${request.name}`, tags });
}

/** The images of all owners that the caller may see. */
export async function getCatalog(c: RegistryContext): Promise<Response> {
  if (!c.var.base.config.packages.isOn) throw notFound();
  const limit = readLimit(c);
  const credential = await readRegistryCredential(c);
  const { ctx } = await authenticate(
    { ...incoming(c), ...(credential && { credential }) },
    { scopes: ["read:package"], anonymous: "by-setting" },
  );
  const [owner = "", ...segments] = (c.req.query("last") ?? "").split("/");
  const after = { owner: owner.toLowerCase(), name: segments.join("/") };
  const { images, last } = limit === 0 ? { images: [] } : await listImages(ctx, { limit, after });
  if (last) setNext(c, "/v2/_catalog", `${last.owner}/${last.name}`);
  return c.json({ repositories: images.map((image) => `${image.owner}/${image.name}`) });
}

/**
 * The manifests that are about a manifest of the image, as an index. Of a manifest that does not
 * exist there may be some too.
 *
 * @see OCI distribution specification 1.1, "Listing Referrers".
 */
export async function getReferrers(
  c: RegistryContext,
  image: string,
  subject: string,
): Promise<Response> {
  const { ctx, pkg, path } = await enterImage(c, image, "read");
  if (!pkg) requireCredential(c);
  const digest = requireDigest(subject);
  const artifactType = c.req.query("artifactType");
  const after = c.req.query("last") ?? "";
  const found = pkg
    ? await listReferrers(ctx, pkg, digest, { artifactType, limit: REFERRERS_MAX + 1, after })
    : [];
  const referrers = found.slice(0, REFERRERS_MAX);
  if (found.length > REFERRERS_MAX) {
    setNext(c, `${path}/referrers/${digest}`, referrers.at(-1)?.digest);
  }
  if (artifactType !== undefined) c.header("OCI-Filters-Applied", "artifactType");
  const mediaType = "application/vnd.oci.image.index.v1+json";
  const index = { schemaVersion: 2, mediaType, manifests: referrers.map(toDescriptor) };
  return c.body(JSON.stringify(index), 200, { "Content-Type": mediaType });
}

const toDescriptor = ({ digest, sizeBytes, facts }: Referrer): object => ({
  mediaType: facts.mediaType,
  digest,
  size: sizeBytes,
  ...(facts.artifactType && { artifactType: facts.artifactType }),
  ...(facts.annotations && { annotations: facts.annotations }),
});

/** Items that the client asks for, within bounds. @throws Failure `malformed` */
function readLimit(c: RegistryContext): number {
  const text = c.req.query("n");
  if (text === undefined) return PAGE_MAX;
  if (/^\d{1,15}$/.test(text)) return Math.min(PAGE_MAX, Number(text));
  throw imageFailure("SIZE_INVALID", "the parameter n is a number of items");
}

/** Sets the header that leads to the next page, with the other parameters of this one. */
function setNext(c: RegistryContext, path: string, last = ""): void {
  const query = new URLSearchParams(c.req.query());
  query.set("last", last);
  c.header("Link", `<${path}?${query}>; rel="next"`);
}
