import type { Ctx } from "../context.ts";
import type { Package, PackageRegistry } from "../db/schema/index.ts";
import type { ShownRegistry } from "../domain/packages/package/find-registry.ts";
import { encodeText, readByteText } from "../git/byte-text.ts";
import { evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
import { formatHex } from "../lib/hex.ts";
import type { RegistryContext } from "./env.ts";

/** The source of an index: the package, or all packages of one format and owner. */
type IndexSource =
  | Pick<Package, "id" | "revision" | "createdAt">
  | Pick<PackageRegistry, "ownerId" | "type" | "revision">;

/** The same with the date of its last change. */
type DatedSource = IndexSource & (Pick<Package, "id" | "datedAt"> | ShownRegistry);

/** An index that is made from rows. */
export interface IndexContent {
  readonly source: IndexSource;
  /** Its kind, and everything else that it depends on besides the source and the base URL. */
  readonly kind: readonly [kind: string, ...parts: (string | number | boolean)[]];
  /** Makes it: runs only if it was not kept. */
  readonly make: () => Promise<string | Uint8Array>;
}

/** An index that is sent. */
export interface SentIndex extends IndexContent {
  readonly source: DatedSource;
}

interface IndexDocument extends SentIndex {
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Returns the bytes of an index, from the cache if nothing of its source has changed. They must not
 * be modified.
 *
 * SECURITY: call this only after the caller was found to see what the index shows.
 */
export function readIndex(ctx: Ctx, { source, kind, make }: IndexContent): Promise<Uint8Array> {
  const { name, key } = keyOf(ctx, source, kind);
  return ctx.git.results(name).getOrComputeText(key, async () => {
    const made = await make();
    return typeof made === "string" ? encodeText(made) : readByteText(made);
  });
}

/** The date of an index, in milliseconds; undefined for one that its date does not identify. */
export const indexDateOf = (source: DatedSource): number | undefined =>
  "isDated" in source && !source.isDated ? undefined : source.datedAt;

function keyOf({ rootUrl }: Ctx, source: IndexSource, [kind, ...parts]: IndexContent["kind"]) {
  const name =
    "id" in source
      ? `packages-${source.id}-${source.createdAt}`
      : `registry-${source.ownerId}-${source.type}`;
  return { name, key: [kind, source.revision, rootUrl, ...parts] as const };
}

/**
 * Responds with an index, from the cache if nothing of its source has changed, or with 304 if the
 * client has it.
 *
 * SECURITY: call this only after the caller was found to see what the index shows.
 */
export async function answerIndex(
  c: RegistryContext,
  ctx: Ctx,
  { source, kind, type, headers: own = {}, make }: IndexDocument,
): Promise<Response> {
  const { name, key } = keyOf(ctx, source, kind);
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(JSON.stringify([name, ...key])),
  );
  const version = {
    tag: formatHex(new Uint8Array(digest)).slice(0, 40),
    modifiedAt: indexDateOf(source),
  };
  const headers = {
    ...own,
    ...versionHeaders(version),
    "Content-Type": type,
    // Kept, but shown again only after another look at what the reader may see.
    "Cache-Control": "private, no-cache",
  };
  const { status } = evaluateConditions(c.req.raw, version);
  if (status !== 200) return new Response(null, { status, headers });
  const bytes = await readIndex(ctx, { source, kind, make });
  return new Response(c.req.method === "HEAD" ? null : bytes.slice(), {
    headers: { ...headers, "Content-Length": String(bytes.length) },
  });
}
