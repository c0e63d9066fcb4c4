import { expect } from "vitest";

import {
  GIT_BUNDLE,
  MANIFEST,
  toManifest,
} from "../../src/domain/exchange/exports/export-files.ts";
import { sourceOfBytes } from "../../src/lib/archive-source.ts";
import { openZip, type ZipFile } from "../../src/lib/zip.ts";
import { type MadeEntry, makeZip } from "./archives.ts";
import { answer } from "./call.ts";
import { History } from "./commits.ts";
import type { TestRepo, TestUser } from "./make.ts";

export const ZIP = "application/zip";

/** Exports a repository, and returns the archive. */
export async function exportBytes(
  repo: Pick<TestRepo, "owner" | "name">,
  as: TestUser,
): Promise<Uint8Array<ArrayBuffer>> {
  const request = new Request(
    `https://forge.example/api/v1/repos/${repo.owner}/${repo.name}/export`,
    { headers: { Authorization: `token ${as.token}` } },
  );
  const response = await answer(request);
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toBe(ZIP);
  expect(response.headers.get("Content-Disposition")).toContain(`${repo.owner}-${repo.name}.zip`);
  return new Uint8Array(await response.arrayBuffer());
}

/** The files of an export, read with a strict reader. */
export async function filesOfExport(bytes: Uint8Array): Promise<Map<string, ZipFile>> {
  const files = await openZip(sourceOfBytes(bytes));
  return new Map(files.map((file) => [file.path, file]));
}

const BYTES_MAX = 10_000_000;

export const readFile = (files: Map<string, ZipFile>, path: string): Promise<Uint8Array> =>
  files.get(path)?.read(BYTES_MAX) ?? Promise.resolve(new Uint8Array());

export const readText = async (files: Map<string, ZipFile>, path: string): Promise<string> =>
  new TextDecoder().decode(await readFile(files, path));

export const readJson = async (files: Map<string, ZipFile>, path: string) =>
  JSON.parse(await readText(files, path));

type Manifest = ReturnType<typeof toManifest>;

/** The manifest of an export of a small project. */
export const madeManifest = (project: Partial<Manifest["project"]> = {}): Manifest =>
  toManifest({
    exportedAt: "2026-01-01T00:00:00.000Z",
    source: "a test",
    project: {
      name: "garden",
      description: "A garden 🌱",
      website: "https://garden.example/",
      topics: ["plants"],
      defaultBranch: "main",
      isPrivate: false,
      isArchived: false,
      htmlUrl: "https://forge.example/gardeners/garden",
      tracksIssues: true,
      takesPulls: true,
      wikiBranch: "",
      ...project,
    },
  });

/** A bundle of git with a commit on `main`, and what follows its header. */
export function makeBundle(): {
  readonly bytes: Uint8Array;
  readonly pack: Uint8Array;
  readonly oid: string;
} {
  const history = new History();
  const oid = history.commit({ files: { "a.txt": "a\n" }, message: "A\n" });
  const pack = history.build();
  return { bytes: bundleOf(`${oid} refs/heads/main\n`, pack), pack, oid };
}

/** A bundle with some lines of refs. */
export const bundleOf = (lines: string, pack: Uint8Array): Uint8Array =>
  Buffer.concat([new TextEncoder().encode(`# v2 git bundle\n${lines}\n`), pack]);

/** The files of an export by their paths: bytes as they are, all else as JSON. */
export type MadeFiles = Readonly<Record<string, unknown>>;

/**
 * Makes an export of some files. A manifest and a bundle are added if they are missing; undefined
 * leaves one out.
 */
export function makeExport(files: MadeFiles = {}): Blob {
  const all = { [MANIFEST]: madeManifest(), [GIT_BUNDLE]: makeBundle().bytes, ...files };
  const present = Object.entries(all).filter(([, content]) => content !== undefined);
  const entries = present.map(([path, content]): MadeEntry =>
    content instanceof Uint8Array
      ? { path, content, isStored: true }
      : { path, content: typeof content === "string" ? content : JSON.stringify(content) },
  );
  return new Blob([makeZip(entries)], { type: ZIP });
}

const KINDS = ["labels", "milestones", "issues", "pulls", "comments", "reviews", "releases"];

/** What needs an account here to be taken over. */
const OF_ACCOUNTS = ["reactions", "assignees", "merger", "isOfficial"];

/**
 * What an export says, so that another one can be compared: with the names of labels and milestones
 * in place of their ids, and the bytes of files in place of their paths.
 *
 * @param dropped The names of fields that are left out, besides ids.
 */
export async function contentOfExport(
  files: Map<string, ZipFile>,
  dropped: readonly string[] = OF_ACCOUNTS,
) {
  const pages = await Promise.all(
    KINDS.map(async (kind) => [kind, await readJson(files, `${kind}/000001.json`)]),
  );
  const content: Record<string, Record<string, unknown>[]> = Object.fromEntries(pages);
  const { pulls = [], reviews = [] } = content;
  const own = new Set(pulls.map(({ base }) => (base as { repository?: string })?.repository));
  const indexIn = (items: readonly Record<string, unknown>[] = [], id: unknown) =>
    items.findIndex((item) => item["foreignId"] === id);
  const comments = reviews.flatMap(
    (review) => (review["comments"] as { foreignId: string }[]) ?? [],
  );
  const texts = new Map<string, string>();
  for (const path of files.keys()) {
    if (path.startsWith("assets/")) texts.set(path, await readText(files, path));
  }
  const plain = JSON.stringify(content, (key, value: unknown) => {
    if (key === "foreignId" || dropped.includes(key)) return undefined;
    if (key === "labelIds") {
      const indexes = (value as string[]).map((id) => indexIn(content["labels"], id));
      return indexes.toSorted((a, b) => a - b);
    }
    if (key === "milestoneId") return indexIn(content["milestones"], value);
    if (key === "answersId") return indexIn(comments, value);
    if (key === "repository") return own.has(value as string) ? "own" : value;
    if (key === "url") return texts.get(value as string);
    return value;
  });
  const { exportedAt: _, source: __, project, ...format } = await readJson(files, MANIFEST);
  const { name: ___, htmlUrl: ____, ...settings } = project;
  const [refs] = (await readText(files, GIT_BUNDLE)).split("\n\nPACK");
  const largeFiles = [...files.keys()].filter((path) => path.startsWith("lfs/"));
  return { format, settings, refs, largeFiles, items: JSON.parse(plain) };
}
