import { type Handler, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { z } from "zod";

import type { Ctx } from "../../context.ts";
import { findVersion } from "../../domain/packages/package/find-version.ts";
import type { PackageContext, PackageOwner } from "../../domain/packages/package/find-package.ts";
import { malformed, notFound, unauthenticated } from "../../lib/failure.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
import { enterRegistry } from "../enter-registry.ts";
import {
  enterOwner,
  enterPackage,
  enterPackageFile,
  requirePackage,
  type PackageRequest,
} from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { readJson } from "../read-upload.ts";
import { failureRenderer, jsonDialect } from "../render-failure.ts";
import { changePackage, changeTags, removeTag, unpublish } from "./change-package.ts";
import { findTagged, loadPackage, loadSummaries } from "./load-package.ts";
import { logOut, parseLogin, tokenOfLogin } from "./login.ts";
import type { Manifest } from "./manifest.ts";
import { requireDistTag, requireNpmName, unscoped, versionKeyOf } from "./names.ts";
import { formatAbbreviated, formatPackument, formatVersion } from "./packument.ts";
import { parseDocument } from "./parse-publication.ts";
import { PROVENANCE_FILE, putPackage } from "./publish.ts";
import { DOCUMENT_BYTES_MAX } from "./read-document.ts";
import { parseSearch, searchCatalog } from "./search.ts";

/**
 * Packages of npm.
 *
 * @see github.com/npm/registry/tree/main/docs, and the sources of npm's client for what that does
 *   not say.
 */
export const npm = new Hono<RegistryEnv>({ router: new TrieRouter() });

/** Maximum bytes of a small body, such as a tag's version or a login. */
const SMALL_BYTES_MAX = 16 * 1024;
/** Maximum bytes of a body with many tags. */
const TAGS_BYTES_MAX = 512 * 1024;

const ABBREVIATED_TYPE = "application/vnd.npm.install-v1+json";

/** The path of a package: with its scope in one segment or in two. */
const NAMES = ["/:name", "/:scope{(?:@|%40)[^/]+}/:name"] as const;
const TAGS_OF = NAMES.map((name) => `/-/package${name}/dist-tags`);

/** Registers a handler at a path below the names of packages. */
function onPackage(method: "get" | "put" | "delete", below: string, handler: Handler<RegistryEnv>) {
  for (const name of NAMES) npm[method](`${name}${below}`, handler);
}

npm.get("/-/ping", async (c) => {
  await enterOwner(c, { mode: "read" });
  return c.json({});
});

npm.get("/-/whoami", async (c) => c.json({ username: (await enterAsUser(c)).user.name }));

npm.get("/-/npm/v1/user", async (c) => {
  const { user } = await enterAsUser(c);
  // Without an address: the scope for packages does not show it.
  return c.json({ name: user.name, fullname: user.fullName, tfa: null });
});

npm.put("/-/user/:user", async (c) => {
  const credential = parseLogin(await readJson(c, SMALL_BYTES_MAX));
  const user = c.req.param("user").replace(/^org\.couchdb\.user:/, "");
  if (user !== credential.name) throw malformed("the login is of another user than the address");
  const { ctx } = await enterOwner(c, { mode: "read", credential });
  const token = await tokenOfLogin(ctx, credential);
  return c.json({ ok: true, id: `org.couchdb.user:${user}`, token }, 201);
});

npm.delete("/-/user/token/:token", async (c) => {
  const { ctx } = await enterOwner(c, { mode: "read" });
  await logOut(ctx, c.req.param("token"));
  return c.json({ ok: true });
});

npm.get("/-/v1/search", async (c) => {
  const request = await enterRegistry(c, { type: "npm", mode: "read" });
  const base = baseUrlOf(request.ctx, request.owner);
  return c.json(await searchCatalog(request, parseSearch(c.req.query()), base));
});

for (const spec of ["/:spec", "/:scope{(?:@|%40)[^/]+}/:spec"]) {
  npm.get(`/-/npm/v1/attestations${spec}`, (c) => attestations(c));
}

for (const path of TAGS_OF) {
  npm.get(path, async (c) => {
    const { ctx, pkg } = await enter(c, "read");
    return c.json((await loadSummaries(ctx, pkg)).tags);
  });

  for (const method of ["put", "post"] as const) {
    npm[method](path, async (c) => {
      const { ctx, pkg } = await enter(c, "write");
      const { data } = z
        .record(z.string(), z.string())
        .safeParse(await readJson(c, TAGS_BYTES_MAX));
      if (!data) throw malformed("the body is no object of versions by tag");
      await changeTags(ctx, pkg, data, method === "put");
      return c.json({ ok: true });
    });
  }

  for (const method of ["put", "post"] as const) {
    npm[method](`${path}/:tag`, async (c) => {
      const { ctx, pkg } = await enter(c, "write");
      const tag = requireDistTag(c.req.param("tag") ?? "");
      const version = await readJson(c, SMALL_BYTES_MAX);
      if (typeof version !== "string") throw malformed("the body is no version as a JSON string");
      await changeTags(ctx, pkg, { [tag]: version }, false);
      return c.json({ ok: true });
    });
  }

  npm.delete(`${path}/:tag`, async (c) => {
    const { ctx, pkg } = await enter(c, "write");
    await removeTag(ctx, pkg, c.req.param("tag") ?? "");
    return c.json({ ok: true });
  });
}

// Clients ask for advisories here. An empty answer would read as "0 vulnerabilities".
npm.post("/-/npm/v1/security/*", async (c) => {
  await enterOwner(c, { mode: "read" });
  throw notFound("this registry has no advisories: use --registry with one that has");
});

// Other paths below `/-/`: clients request some of them, and go on without.
npm.all("/-/*", async (c) => {
  await enterOwner(c, { mode: "read" });
  throw notFound("this registry does not have what the address names");
});

onPackage("get", "/-/:file", tarball);
// With the version between, as Gitea's addresses; with the scope, as npm's client makes them up.
onPackage("get", "/-/:version/:file", tarball);

onPackage("delete", "/-/:file/-rev/:rev", deleteTarball);
onPackage("delete", "/-/:version/:file/-rev/:rev", deleteTarball);

onPackage("delete", "/-rev/:rev", async (c) => {
  const { ctx, pkg } = await enter(c, "write");
  await unpublish(ctx, pkg, c.req.param("rev") ?? "");
  return c.json({ ok: true });
});

onPackage("put", "/-rev/:rev", async (c) => {
  const { ctx, pkg } = await enter(c, "write");
  const document = parseDocument(await readJson(c, DOCUMENT_BYTES_MAX), pkg.row.name);
  await changePackage(ctx, pkg, document, c.req.param("rev"));
  return c.json({ ok: true });
});

onPackage("get", "", async (c) => {
  const { ctx, owner, pkg } = await enter(c, "read");
  const isAbbreviated = (c.req.header("accept") ?? "").includes(ABBREVIATED_TYPE);
  const base = baseUrlOf(ctx, owner);
  return answerIndex(c, ctx, {
    source: pkg.row,
    kind: [isAbbreviated ? "npm-abbreviated" : "npm-packument", owner.account.name],
    type: isAbbreviated ? ABBREVIATED_TYPE : "application/json",
    headers: { Vary: "Accept" },
    make: async () =>
      isAbbreviated
        ? formatAbbreviated(await loadPackage(ctx, pkg, "abbreviated"), base)
        : formatPackument(await loadPackage(ctx, pkg, "full"), base),
  });
});

onPackage("put", "", async (c) => {
  const name = nameOf(c);
  await putPackage(c, await enterNamed(c, "write"), name);
  return c.json({ ok: true }, 201);
});

onPackage("get", "/:version", async (c) => {
  const { ctx, owner, pkg } = await enter(c, "read");
  const requested = c.req.param("version") ?? "";
  const version = await findByVersionOrTag(ctx, pkg, requested);
  if (!version) throw notFound(`version not found: ${requested}`);
  const base = baseUrlOf(ctx, owner);
  return c.json(formatVersion(pkg.row.name, version.metadata as Manifest, base));
});

npm.onError(failureRenderer(jsonDialect((message) => ({ error: message }))));

/** The name of a package in the path. @throws Failure `malformed` */
function nameOf(c: RegistryContext): string {
  const { scope, name = "" } = c.req.param() as { scope?: string; name?: string };
  return requireNpmName(scope === undefined ? name : `${scope}/${name}`);
}

function enterNamed(c: RegistryContext, mode: "read" | "write"): Promise<PackageRequest> {
  const name = nameOf(c);
  return enterPackage(c, { mode, type: "npm", name, nameKey: name });
}

/** Enters a package that exists. */
async function enter(c: RegistryContext, mode: "read" | "write") {
  const request = await enterNamed(c, mode);
  return { ...request, pkg: requirePackage(request) };
}

async function enterAsUser(c: RegistryContext) {
  const { ctx } = await enterOwner(c, { mode: "read" });
  const { user } = ctx.actor;
  if (!user) throw unauthenticated("sign in with a user name and a password or token");
  return { ctx, user };
}

const baseUrlOf = ({ rootUrl }: Ctx, { account }: PackageOwner): string =>
  `${rootUrl}/api/packages/${encodeURIComponent(account.name)}/npm`;

function findByVersionOrTag(ctx: Ctx, pkg: PackageContext, requested: string) {
  const versionKey = versionKeyOf(requested);
  return versionKey === undefined
    ? findTagged(ctx, pkg, requested)
    : findVersion(ctx, pkg, versionKey);
}

async function tarball(c: RegistryContext): Promise<Response> {
  const { ctx, ...file } = await findTarball(c, "read");
  return answerFile(c, ctx, file);
}

async function deleteTarball(c: RegistryContext): Promise<Response> {
  const { ctx, pkg, version } = await findTarball(c, "write");
  await unpublish(ctx, pkg, c.req.param("rev") ?? "", version.id);
  return c.json({ ok: true });
}

async function findTarball(c: RegistryContext, mode: "read" | "write") {
  const name = nameOf(c);
  const { version = "", file = "" } = c.req.param() as { version?: string; file?: string };
  const versionKey = versionKeyOf(version);
  const request = await enterPackageFile(
    c,
    { mode, type: "npm", name, nameKey: name },
    { versionKey: versionKey ?? versionKeyOfFile(name, file), nameKey: file },
  );
  const pkg = requirePackage(request);
  // A segment that is no version is the scope.
  const isNamed = version === "" || versionKey !== undefined || version.startsWith("@");
  const { ctx, found } = request;
  if (!isNamed || !found?.file.isLead) throw notFound("package does not exist");
  return { ctx, pkg, ...found };
}

/** The key of the version that the name of a tarball has; none has "". */
const versionKeyOfFile = (name: string, file: string): string =>
  versionKeyOf(file.slice(unscoped(name).length + 1).replace(/\.tgz$/, "")) ?? "";

/** The statements of where a version was built. @see github.com/npm/rfcs, 0049. */
async function attestations(c: RegistryContext): Promise<Response> {
  const { scope, spec = "" } = c.req.param() as { scope?: string; spec?: string };
  const [, own = "", version = ""] = /^(.+)@([^@]+)$/.exec(spec) ?? [];
  const name = requireNpmName(scope === undefined ? own : `${scope}/${own}`);
  const request = await enterPackageFile(
    c,
    { mode: "read", type: "npm", name, nameKey: name },
    { versionKey: versionKeyOf(version) ?? "", nameKey: PROVENANCE_FILE },
  );
  const { ctx, found } = request;
  requirePackage(request);
  if (!found) throw notFound("the version has no attestations");
  const { blob } = found;
  const bytes = await ctx.git.packageFiles.read(blob.uuid, { start: 0, end: blob.sizeBytes });
  const bundle = JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  const { dist } = found.version.metadata as Manifest;
  const { predicateType } = dist.attestations?.provenance ?? {};
  return c.json({ attestations: [{ predicateType, bundle }] });
}
