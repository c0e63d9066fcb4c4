import { createHash } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";

import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { Ctx } from "../../context.ts";
import type { Package } from "../../db/schema/index.ts";
import { deleteFile } from "../../domain/packages/package/delete-version.ts";
import type { FileOfVersion } from "../../domain/packages/package/find-file.ts";
import { findPackage, toPackageContext } from "../../domain/packages/package/find-package.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob, withBlobs } from "../../domain/packages/package/receive-blob.ts";
import { byteTextBytes } from "../../git/byte-text.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { answerStoredFile } from "../../lib/stored-file.ts";
import { answerBytes } from "../answer-bytes.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex, indexDateOf, readIndex, type SentIndex } from "../answer-index.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import { enterRegistry, type RegistryRequest } from "../enter-registry.ts";
import { enterOwner, enterPackage, requirePackage, type OwnerRequest } from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { fileDateOf } from "../file-date.ts";
import { readBytes, readUpload } from "../read-upload.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import { formatInfo, formatInfoLine, formatNames, formatGemVersions } from "./compact-index.ts";
import {
  findGemFile,
  type GemFileMetadata,
  type IndexedGemRow,
  listFiles,
  listFilesOf,
  listGems,
  newestOf,
  gemNumberOf,
  selectGemPackages,
} from "./find-gems.ts";
import { toGemJson } from "./gem-json.ts";
import { gemVersionKey, isGemVersion, isPrerelease } from "./gem-version.ts";
import { formatGemSlug, isPlatformName, parseSlug, requireGemName, slugKey } from "./names.ts";
import { parseGem } from "./parse-gem.ts";
import { RUBY } from "./platform.ts";
import { readGemKey } from "./read-key.ts";
import { formatGemspec, formatSpecs, type SpecsKind } from "./ruby-objects.ts";

/** Ruby gems: the indexes of `gem` and Bundler, gems, and what `gem push` and `gem yank` call. */
export const rubygems = new Hono<RegistryEnv>({ router: new TrieRouter() });

const TEXT = "text/plain; charset=utf-8";
/** Maximum bytes of the form of a yank. */
const FORM_BYTES_MAX = 16 * 1024;
/** Gems on a page of a search, as at RubyGems.org. */
const PAGE_SIZE = 30;
const PAGE_NUMBER_MAX = 1000;

// `gem` asks whether the source answers here, and reads the compact index of one that does: a
// source that does not is read by its marshalled indexes, with a request for each version.
for (const path of ["", "/"]) {
  rubygems.get(path, async (c) => {
    await enterOwner(c, { mode: "read" });
    return c.text("RubyGems\n");
  });
}

for (const kind of ["specs", "latest_specs", "prerelease_specs"] satisfies SpecsKind[]) {
  rubygems.get(`/${kind}.4.8.gz`, async (c) => {
    const request = await enterGems(c);
    return answerIndex(c, request.ctx, {
      ...indexOf(request, kind, (gems) => gzipSync(byteTextBytes(formatSpecs(gems, kind)))),
      type: "application/gzip",
    });
  });
}

rubygems.get("/versions", async (c) => {
  const request = await enterGems(c);
  return answerDigested(c, request.ctx, indexOf(request, "versions", formatGemVersions));
});

rubygems.get("/names", async (c) => {
  const request = await enterGems(c);
  const make = (gems: IndexedGemRow[]) => formatNames(new Set(gems.map(({ name }) => name)));
  return answerDigested(c, request.ctx, indexOf(request, "names", make));
});

rubygems.get("/info/:name", async (c) => {
  const { ctx, row } = await enterGem(c, c.req.param("name"));
  return answerDigested(c, ctx, {
    source: row,
    kind: ["rubygems-info"],
    make: async () => formatInfo(await listGems(ctx, { packageId: row.id })),
  });
});

rubygems.get("/quick/Marshal.4.8/:file{.+\\.gemspec\\.rz}", async (c) => {
  const { ctx, file } = await enterFile(c, c.req.param("file").replace(/\.gemspec\.rz$/, ""));
  const { spec } = file.metadata as GemFileMetadata;
  const bytes = deflateSync(byteTextBytes(formatGemspec(spec)));
  return answerBytes(c, bytes, { modifiedAt: fileDateOf(file.createdAt, ctx.now) });
});

rubygems.get("/gems/:file{.+\\.gem}", async (c) => {
  const { ctx, ...found } = await enterFile(c, c.req.param("file").replace(/\.gem$/, ""));
  return answerFile(c, ctx, found);
});

/** A gem as searches see it: the file of its newest version. */
type CatalogGem = Pick<
  IndexedGemRow,
  "id" | "name" | "repoId" | "isRestricted" | "isConcealed" | "fileId"
>;

rubygems.post("/api/v1/gems", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write", credential: readGemKey(c) });
  const blob = await receiveBlob(ctx, "rubygems", readUpload(c));
  const { spec, known } = await withBlobs(ctx, [blob], async () => {
    const parsed = await parseGem(sourceOfBlob(ctx, blob));
    const key = { type: "rubygems", nameKey: parsed.name } as const;
    return { spec: parsed, known: await findPackage(ctx, owner, key) };
  });
  const { name, number, description, summary, homepage, licenses, authors } = spec;
  const slug = formatGemSlug(spec);
  const metadata: GemFileMetadata = { spec, line: formatInfoLine(spec, blob.sha256) };
  await publishVersion(ctx, owner, known, {
    type: "rubygems",
    name,
    nameKey: name,
    version: number,
    versionKey: gemVersionKey(number),
    metadata: { description: description || summary, homepage, licenses, authors },
    files: [{ blob, name: `${name}-${slug}.gem`, nameKey: slugKey(spec), isLead: true, metadata }],
    ifVersionExists: "add",
  });
  return c.text(`Successfully registered gem: ${name} (${slug})\n`, 201);
});

rubygems.delete("/api/v1/gems/yank", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write", credential: readGemKey(c) });
  const form = new URLSearchParams(new TextDecoder().decode(await readBytes(c, FORM_BYTES_MAX)));
  const field = (name: string): string => form.get(name) ?? c.req.query(name) ?? "";
  const slug = {
    name: requireGemName(field("gem_name")),
    number: field("version"),
    platform: field("platform") || RUBY,
  };
  if (!isGemVersion(slug.number) || !isPlatformName(slug.platform)) {
    throw malformed("the version or the platform is not valid");
  }
  const pkg = await findPackage(ctx, owner, { type: "rubygems", nameKey: slug.name });
  const found = pkg && (await findGemFile(ctx, [pkg], [slug]));
  if (!found) throw notFound("the version does not exist");
  await deleteFile(ctx, pkg, found.version, found.file);
  return c.text(`Successfully deleted gem: ${slug.name} (${formatGemSlug(slug)})\n`);
});

rubygems.get("/api/v1/search.json", async (c) => {
  const request = await enterGems(c);
  const { ctx, sees } = request;
  const text = (c.req.query("query") ?? "").toLowerCase();
  // SECURITY: the catalog has gems that this caller may not see.
  const newest = (await readCatalog(request)).filter(
    (gem) => sees(gem) && gem.name.toLowerCase().includes(text),
  );
  const at = (pageOf(c.req.query("page")) - 1) * PAGE_SIZE;
  const page = newest.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(at, at + PAGE_SIZE);
  const files = await listFiles(
    ctx,
    page.map(({ fileId }) => fileId),
  );
  return c.json(files.map((each) => toGemJson(baseOf(request), each)));
});

rubygems.get("/api/v1/gems/:file{.+\\.json}", async (c) => {
  const request = await enterGem(c, c.req.param("file").replace(/\.json$/, ""));
  const { ctx, row } = request;
  const files = (await listFilesOf(ctx, row.id)).toReversed();
  const [newest] = newestOf(files.map((each) => ({ id: row.id, number: gemNumberOf(each), each })));
  if (!newest) throw notFound("the gem does not exist");
  return c.json(toGemJson(baseOf(request), newest.each));
});

rubygems.get("/api/v1/versions/:file{.+\\.json}", async (c) => {
  const request = await enterGem(c, c.req.param("file").replace(/\.json$/, ""));
  const versions = await listFilesOf(request.ctx, request.row.id);
  const shown = versions.map((each) => toGemJson(baseOf(request), each));
  return c.json(
    shown.map(({ version: number, ...gem }) =>
      Object.assign(gem, { number, prerelease: isPrerelease(number) }),
    ),
  );
});

rubygems.onError(failureRenderer(PLAIN_TEXT));

/** Finds the gems of an owner that the caller may see. */
const enterGems = (c: RegistryContext): Promise<RegistryRequest> =>
  enterRegistry(c, { type: "rubygems", mode: "read" });

/** Finds a gem. @throws Failure `not_found`. */
async function enterGem(
  c: RegistryContext,
  text: string,
): Promise<OwnerRequest & { row: Package }> {
  const name = requireGemName(text);
  const request = await enterPackage(c, { type: "rubygems", mode: "read", name, nameKey: name });
  return { ...request, row: requirePackage(request).row };
}

/** Finds the file of a gem by its name without the ending. @throws Failure `not_found`. */
async function enterFile(c: RegistryContext, text: string): Promise<FileOfVersion & { ctx: Ctx }> {
  const readings = parseSlug(text);
  const names = readings.map(({ name }) => name);
  const { ctx, owner, more } = await enterOwner(c, { mode: "read" }, (db, named) =>
    selectGemPackages(db, { ...named, names }),
  );
  const gems = (more ?? []).flatMap((row) => toPackageContext(ctx.actor, owner, row) ?? []);
  const found = await findGemFile(ctx, gems, readings);
  // Versions that are equal may be written differently.
  if (found?.file.name !== `${text}.gem`) throw notFound("the gem does not exist");
  return { ctx, ...found };
}

/** The newest version of each gem of an owner, as searches look through them. */
async function readCatalog({ ctx, owner, registry }: RegistryRequest): Promise<CatalogGem[]> {
  const bytes = await readIndex(ctx, {
    source: registry,
    kind: ["rubygems-catalog"],
    make: async () => {
      const newest = newestOf(await listGems(ctx, { ownerId: owner.account.id }));
      return JSON.stringify(
        newest.map(({ id, name, repoId, isRestricted, isConcealed, fileId }) => {
          const gem: CatalogGem = { id, name, repoId, isRestricted, isConcealed, fileId };
          return gem;
        }),
      );
    },
  });
  return JSON.parse(new TextDecoder().decode(bytes)) as CatalogGem[];
}

/** An index over all gems that the caller may see. */
const indexOf = (
  { ctx, owner, shown: registry, sees, visibilityKey }: RegistryRequest,
  kind: string,
  make: (gems: IndexedGemRow[]) => string | Uint8Array,
): SentIndex => ({
  source: registry,
  kind: [`rubygems-${kind}`, visibilityKey],
  make: async () => make((await listGems(ctx, { ownerId: owner.account.id })).filter(sees)),
});

/**
 * Responds with an index that grows by lines. Clients ask for the bytes after those that they have,
 * and compare the whole with its digest; those before Bundler 2.5 take the entity tag for its MD5.
 */
async function answerDigested(c: RegistryContext, ctx: Ctx, content: SentIndex): Promise<Response> {
  const bytes = await readIndex(ctx, content);
  const digest = createHash("sha256").update(bytes).digest("base64");
  return answerStoredFile(c.req.raw, {
    sizeBytes: bytes.length,
    tag: createHash("md5").update(bytes).digest("hex"),
    modifiedAt: indexDateOf(content.source),
    headers: {
      "Content-Type": TEXT,
      "Cache-Control": "private, no-cache",
      "Repr-Digest": `sha-256=:${digest}:`,
      Digest: `sha-256=${digest}`,
    },
    open: async ({ start, end }) => bytes.slice(start, end),
  });
}

/** The URL of the registry. */
const baseOf = ({ ctx, owner }: OwnerRequest): string =>
  `${ctx.rootUrl}/api/packages/${owner.account.name}/rubygems`;

function pageOf(text: string | undefined): number {
  const page = /^\d{1,6}$/.test(text ?? "") ? Number(text) : 1;
  return Math.min(Math.max(page, 1), PAGE_NUMBER_MAX);
}
