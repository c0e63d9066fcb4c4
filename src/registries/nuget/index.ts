import { and, eq, exists } from "drizzle-orm";
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { toCallerSql } from "../../auth/caller-sql.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageProperties, packages } from "../../db/schema/index.ts";
import { deleteVersion } from "../../domain/packages/package/delete-version.ts";
import { findPackageFile } from "../../domain/packages/package/find-file.ts";
import {
  isOwnerNamed,
  type OwnerArgument,
  selectPackages,
  toPackageContext,
} from "../../domain/packages/package/find-package.ts";
import { findVersion, listAllVersions } from "../../domain/packages/package/find-version.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
import {
  enterOwner,
  enterPackage,
  enterPackageFile,
  type NamedPackage,
  requirePackage,
} from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import { baseOf, enterNuget } from "./enter-nuget.ts";
import {
  type DetailedVersion,
  keepSeen,
  hasPackageType,
  listStored,
  type SeenVersions,
  sortDetailed,
} from "./listings.ts";
import { manifestKey, nupkgKey, requireNugetVersion, requirePackageId } from "./names.ts";
import { nugetVersionKey } from "./nuget-version.ts";
import { publishPackage, publishSymbols, SYMBOLS_ID } from "./publish.ts";
import { readApiKey } from "./read-api-key.ts";
import { readResultRange, searchListings } from "./search.ts";
import { nugetV2 } from "./v2.ts";
import {
  findPage,
  toLeaf,
  toRegistration,
  toSearchResult,
  toServiceIndex,
} from "./v3-documents.ts";

/** NuGet packages, by versions 2 and 3 of the protocol. */
export const nuget = new Hono<RegistryEnv>({ router: new TrieRouter() });

const JSON_TYPE = "application/json; charset=utf-8";
const XML = "application/xml; charset=utf-8";

nuget.get("/index.json", async (c) => {
  const request = await enterOwner(c, { mode: "read", credential: readApiKey(c) });
  return c.json(toServiceIndex(baseOf(request)));
});

nuget.get("/query", async (c) => {
  const request = await enterNuget(c);
  const { ctx, owner } = request;
  const text = c.req.query("q") ?? "";
  const type = c.req.query("packageType") ?? "";
  const listings = keepSeen(await searchListings(request, text), seenByQuery(c));
  const groups = [...Map.groupBy(listings, ({ packageId }) => packageId).values()];
  const { skip, take } = readResultRange(c.req.query("skip"), c.req.query("take"));
  const shown =
    type === "" ? groups : groups.filter(([newest]) => newest && hasPackageType(newest, type));
  const page = shown.slice(skip, skip + take);
  const stored = await listStored(
    ctx,
    page.flatMap(([newest]) => newest?.versionId ?? []),
  );
  const base = baseOf(request);
  return c.json({
    totalHits: shown.length,
    data: stored.map((newest) => {
      const versions = page.find(([first]) => first?.versionId === newest.row.id) ?? [];
      return toSearchResult(base, { newest, versions, owner: owner.account.name });
    }),
  });
});

nuget.get("/autocomplete", async (c) => {
  const request = await enterNuget(c);
  const id = c.req.query("id");
  if (id !== undefined) {
    const found = await searchListings(request, "", id);
    const versions = keepSeen(found, seenByQuery(c)).toReversed();
    return c.json({ data: versions.map(({ version }) => version.normalized) });
  }
  const text = c.req.query("q") ?? "";
  const found = keepSeen(await searchListings(request, text), seenByQuery(c));
  const names = [...new Set(found.map(({ name }) => name))];
  const { skip, take } = readResultRange(c.req.query("skip"), c.req.query("take"));
  return c.json({ totalHits: names.length, data: names.slice(skip, skip + take) });
});

nuget.get("/registration/:id/index.json", (c) =>
  answerVersions(c, ["registration"], (base, id, versions) => toRegistration(base, id, versions)),
);

nuget.get("/registration/:id/page/:lower/:upper{.+\\.json}", (c) => {
  const lower = requireNugetVersion(c.req.param("lower"));
  const upper = requireNugetVersion(c.req.param("upper").replace(/\.json$/, ""));
  const kind = ["registration-page", lower.normalized, upper.normalized] as const;
  return answerVersions(c, kind, (base, id, versions) =>
    findPage(base, id, versions, [lower, upper]),
  );
});

nuget.get("/registration/:id/:version{.+\\.json}", (c) => {
  const version = requireNugetVersion(c.req.param("version").replace(/\.json$/, ""));
  const key = nugetVersionKey(version);
  return answerVersions(c, ["registration-leaf", key], (base, _, versions) => {
    const found = versions.find((each) => nugetVersionKey(each.version) === key);
    return found && toLeaf(base, found);
  });
});

nuget.get("/package/:id/index.json", (c) =>
  answerVersions(c, ["versions"], (_, id, versions) => ({
    versions: versions.map(({ version }) => nugetVersionKey(version)),
  })),
);

nuget.get("/package/:id/:version/:file", async (c) => {
  const version = requireNugetVersion(c.req.param("version"));
  const file = c.req.param("file").toLowerCase();
  const named = namedById(c, "read");
  const key = { versionKey: nugetVersionKey(version), nameKey: file };
  const request = await enterPackageFile(c, named, key);
  requirePackage(request);
  const isPackage = file === nupkgKey(named.name, version);
  if (!isPackage && file !== manifestKey(named.name)) throw notFound("the file does not exist");
  const { ctx, found } = request;
  if (!found) throw notFound("the version does not exist");
  return answerFile(c, ctx, found, { type: isPackage ? "application/octet-stream" : XML });
});

nuget.put("/", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write", credential: readApiKey(c) });
  await publishPackage(c, ctx, owner);
  return c.body(null, 201);
});

nuget.put("/symbolpackage", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write", credential: readApiKey(c) });
  await publishSymbols(c, ctx, owner);
  return c.body(null, 201);
});

nuget.delete("/:id/:version", async (c) => {
  const version = requireNugetVersion(c.req.param("version"));
  const { ctx, pkg } = await enterById(c, "write");
  const found = await findVersion(ctx, pkg, nugetVersionKey(version));
  if (!found) throw notFound("the version does not exist");
  await deleteVersion(ctx, pkg, found);
  return c.body(null, 204);
});

nuget.get("/symbols/:file/:key/:name", async (c) => {
  const { file, key, name } = c.req.param();
  if (file.toLowerCase() !== name.toLowerCase() || !/^[0-9a-f]{32}f{8}$/i.test(key)) {
    throw malformed("symbols are asked for by /symbols/<file>/<id>ffffffff/<file>");
  }
  const symbolsId = key.toLowerCase();
  const { ctx, owner, more } = await enterOwner(
    c,
    { mode: "read", credential: readApiKey(c) },
    (db, named) => packagesWithSymbols(db, { ...named, symbolsId }),
  );
  for (const row of more ?? []) {
    const pkg = toPackageContext(ctx.actor, owner, row);
    const fileKey = { nameKey: name.toLowerCase(), compositeKey: symbolsId };
    const found = pkg && (await findPackageFile(ctx, pkg, fileKey));
    if (found) return answerFile(c, ctx, found);
  }
  throw notFound("there are no such symbols");
});

nuget.route("/", nugetV2);

nuget.onError(failureRenderer(PLAIN_TEXT));

/** Finds the package of the path. @throws Failure `not_found`. */
async function enterById(c: RegistryContext, mode: "read" | "write") {
  const request = await enterPackage(c, namedById(c, mode));
  return { ...request, pkg: requirePackage(request) };
}

/** The package of the path. @throws Failure `malformed` */
function namedById(c: RegistryContext, mode: "read" | "write"): NamedPackage {
  const name = requirePackageId(c.req.param("id") ?? "");
  const credential = readApiKey(c);
  return { type: "nuget", mode, name, nameKey: name.toLowerCase(), credential };
}

/**
 * Responds with a document of a package that follows from its versions.
 *
 * @param make Receives the versions, oldest first, and returns undefined where there is no such
 *   document.
 */
async function answerVersions(
  c: RegistryContext,
  [kind, ...parts]: readonly [string, ...string[]],
  make: (base: string, id: string, versions: DetailedVersion[]) => object | undefined,
): Promise<Response> {
  const request = await enterById(c, "read");
  const { ctx, pkg } = request;
  return answerIndex(c, ctx, {
    source: pkg.row,
    kind: [`nuget-${kind}`, ...parts],
    type: JSON_TYPE,
    make: async () => {
      const versions = sortDetailed(pkg.row.name, await listAllVersions(ctx, pkg));
      const made = make(baseOf(request), pkg.row.name, versions);
      if (!made) throw notFound("the version does not exist");
      return JSON.stringify(made);
    },
  });
}

/** Selects the packages of an owner that have symbols of an id. */
const packagesWithSymbols = prepare(
  (db, { caller, ownerName, symbolsId }: Params<OwnerArgument & { symbolsId: string }>) =>
    selectPackages(db, toCallerSql(caller)).where(
      and(
        isOwnerNamed(ownerName),
        eq(packages.type, "nuget"),
        exists(
          db
            .select({ id: packageProperties.id })
            .from(packageProperties)
            .where(
              and(
                eq(packageProperties.packageId, packages.id),
                eq(packageProperties.name, SYMBOLS_ID),
                eq(packageProperties.value, symbolsId),
              ),
            ),
        ),
      ),
    ),
);

/** Which versions a request of version 3 of the protocol asks for. */
const seenByQuery = ({ req }: RegistryContext): SeenVersions => ({
  hasPrereleases: req.query("prerelease") === "true",
  hasSemVer2: (req.query("semVerLevel") ?? "").startsWith("2.0.0"),
});
