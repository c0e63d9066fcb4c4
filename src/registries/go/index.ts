import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { findPackage } from "../../domain/packages/package/find-package.ts";
import { listAllVersions } from "../../domain/packages/package/find-version.ts";
import { publishVersion } from "../../domain/packages/package/publish-version.ts";
import { receiveBlob, withBlobs } from "../../domain/packages/package/receive-blob.ts";
import { notFound } from "../../lib/failure.ts";
import { answerBytes } from "../answer-bytes.ts";
import { answerFile } from "../answer-file.ts";
import { answerIndex } from "../answer-index.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import { enterOwner, enterPackageFile, requirePackage } from "../enter.ts";
import type { RegistryContext, RegistryEnv } from "../env.ts";
import { fileDateOf } from "../file-date.ts";
import { readUpload } from "../read-upload.ts";
import { failureRenderer, PLAIN_TEXT } from "../render-failure.ts";
import { inspectModule } from "./inspect-module.ts";
import {
  compareModuleVersions,
  isPseudoVersion,
  latestModuleVersion,
  unescapeModuleText,
} from "./modules.ts";

/** The registry of Go modules: what the go command reads of a proxy. */
export const go = new Hono<RegistryEnv>({ router: new TrieRouter() });

const TEXT = "text/plain; charset=UTF-8";
const FILE = "module.zip";

/** The stored metadata of a version. */
interface ModuleMetadata {
  readonly goMod: string;
}

/** A request to a proxy. */
interface ModuleRequest {
  readonly kind: "list" | "latest" | "info" | "mod" | "zip";
  readonly path: string;
  /** "" where no version is asked for. */
  readonly version: string;
}

go.put("/upload", async (c) => {
  const { ctx, owner } = await enterOwner(c, { mode: "write" });
  const blob = await receiveBlob(ctx, "go", readUpload(c));
  const { pkg, path, version, goMod } = await withBlobs(ctx, [blob], async () => {
    const module = await inspectModule(sourceOfBlob(ctx, blob));
    const key = { type: "go", nameKey: module.path } as const;
    return { ...module, pkg: await findPackage(ctx, owner, key) };
  });
  const metadata: ModuleMetadata = { goMod };
  await publishVersion(ctx, owner, pkg, {
    type: "go",
    name: path,
    nameKey: path,
    version,
    versionKey: version,
    metadata,
    files: [{ blob, name: `${version}.zip`, nameKey: FILE, isLead: true }],
    ifVersionExists: "refuse",
  });
  return c.body(null, 201);
});

// The go command then asks the checksum database itself, unless its settings forbid it.
go.get("/sumdb/*", async (c) => {
  await enterOwner(c, { mode: "read" });
  throw notFound("the registry does not stand in for a checksum database");
});

go.get("/*", async (c) => {
  const asked = parseModuleRequest(c);
  // SECURITY: a path that is none is refused as one that nobody has, only after the owner was found
  // to be seen.
  const path = asked?.path ?? "";
  const request = await enterPackageFile(
    c,
    { mode: "read", type: "go", name: path, nameKey: path },
    { versionKey: asked?.version ?? "", nameKey: FILE },
  );
  if (!asked) throw notFound("the path is none of a proxy of modules");
  const { ctx, found: file } = request;
  const pkg = requirePackage(request);
  if (asked.kind === "list" || asked.kind === "latest") {
    const isList = asked.kind === "list";
    return answerIndex(c, ctx, {
      source: pkg.row,
      kind: [`go-${asked.kind}`],
      type: isList ? TEXT : "application/json",
      make: async () => {
        const versions = await listAllVersions(ctx, pkg);
        if (isList) return formatList(versions.map(({ version }) => version));
        const latest = latestModuleVersion(versions.map(({ version }) => version));
        const found = versions.find(({ version }) => version === latest);
        return found ? formatInfo(found) : "{}";
      },
    });
  }
  if (!file) throw notFound("the version does not exist");
  if (asked.kind === "zip") return answerFile(c, ctx, file, { type: "application/zip" });
  const { version } = file;
  const modifiedAt = fileDateOf(file.file.createdAt, ctx.now);
  return asked.kind === "mod"
    ? answerBytes(c, (version.metadata as ModuleMetadata).goMod, { type: TEXT, modifiedAt })
    : answerBytes(c, formatInfo(version), { type: "application/json", modifiedAt });
});

go.onError(failureRenderer(PLAIN_TEXT));

/** @see "Go Modules Reference", "GOPROXY protocol". */
function parseModuleRequest(c: RegistryContext): ModuleRequest | undefined {
  // Behind /api/packages/{owner}/go.
  const rest = decode(c.req.path.split("/").slice(5).join("/"));
  const [, escapedPath = "", tail = ""] = /^(.+)\/@(latest|v\/.+)$/.exec(rest ?? "") ?? [];
  const path = unescapeModuleText(escapedPath);
  if (!path) return undefined;
  if (tail === "latest") return { kind: "latest", path, version: "" };
  if (tail === "v/list") return { kind: "list", path, version: "" };
  const [, escapedVersion = "", kind] = /^v\/([^/]+)\.(info|mod|zip)$/.exec(tail) ?? [];
  const version = unescapeModuleText(escapedVersion);
  if (!version) return undefined;
  return { kind: kind as "info" | "mod" | "zip", path, version };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const formatInfo = ({
  version,
  createdAt,
}: {
  readonly version: string;
  readonly createdAt: number;
}): string => JSON.stringify({ Version: version, Time: new Date(createdAt).toISOString() });

/** One version per line, older ones first. Versions of commits are not listed. */
const formatList = (versions: readonly string[]): string =>
  versions
    .filter((version) => !isPseudoVersion(version))
    .toSorted(compareModuleVersions)
    .map((version) => `${version}\n`)
    .join("");
