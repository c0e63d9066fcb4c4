import { z } from "@hono/zod-openapi";

import { findPaths, listPaths } from "../../domain/code/contents/list-paths.ts";
import { splitPath } from "../../domain/code/contents/find-entry.ts";
import { readBlame } from "../../domain/code/contents/read-blame.ts";
import { searchFiles } from "../../domain/code/contents/search-files.ts";
import { formatBase64, formatBase64Url, parseBase64Url } from "../../lib/base64.ts";
import { invalid, notFound } from "../../lib/failure.ts";
import type { ContentsResponse } from "../../shapes/contents/contents.ts";
import type { FilesResponse } from "../../shapes/contents/file-change.ts";
import { type Answer, answerList, CHARS_MAX } from "../answer.ts";
import { at, type McpCall } from "../call.ts";
import { openAt } from "../open-at.ts";
import { cursor, path, ref, repository, splitName } from "./fields.ts";
import { tool } from "./tool.ts";

/** Paths of an answer. */
const PATHS_MAX = 300;
/** Lines of an answer, of files whose lines are short. */
const LINES_MAX = 1000;
/** Maximum bytes of a file that is read. */
const FILE_BYTES_MAX = 10 * 1024 * 1024;
/** Files of a change set, and those that it deletes. */
const CHANGES_MAX = 200;
const DELETIONS_MAX = 50;

const line = z.int().min(1).max(10_000_000).optional();

type Contents = z.infer<typeof ContentsResponse>;

/** Reads the lines of a file that fit an answer. */
export async function readFile(
  { api }: McpCall,
  fullName: string,
  file: { path: string; ref: string | undefined; from: number; to: number | undefined },
): Promise<Answer> {
  const { owner, name } = splitName(fullName);
  const names = splitPath(file.path);
  const response = await api.file(at`/repos/${owner}/${name}/raw/${names}`, { ref: file.ref });
  const size = Number(response.headers.get("content-length") ?? 0);
  if (size > FILE_BYTES_MAX) {
    await response.body?.cancel();
    throw invalid(`the file has ${size} bytes, more than a tool reads`);
  }
  const bytes = await response.bytes();
  if (bytes.includes(0)) {
    return {
      summary: `${names.join("/")} is no text: ${bytes.length} bytes.`,
      structured: { path: names.join("/"), bytes: bytes.length },
    };
  }
  const lines = new TextDecoder().decode(bytes).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const last = Math.min(lines.length, file.to ?? lines.length, file.from + LINES_MAX - 1);
  let [text, end] = ["", file.from - 1];
  while (end < last && (end < file.from || text.length + (lines[end]?.length ?? 0) < CHARS_MAX)) {
    text += `${lines[end] ?? ""}\n`;
    end++;
  }
  const goesOn = end < Math.min(lines.length, file.to ?? lines.length);
  return {
    summary: `${names.join("/")}, lines ${file.from} to ${end} of ${lines.length}.`,
    data: [{ label: "file", text }],
    structured: { path: names.join("/"), from: file.from, to: end, lines: lines.length },
    next: goesOn ? `For more, call again with from ${end + 1}.` : undefined,
  };
}

/** A path as a cursor: users name files, and a cursor stands among words of the service. */
const encodePath = (text: string): string => formatBase64Url(new TextEncoder().encode(text));

function decodePath(given = ""): string {
  const bytes = parseBase64Url(given);
  if (!bytes) throw invalid("[cursor]: must be that of an answer");
  return new TextDecoder().decode(bytes);
}

const fileChange = z.object({
  path,
  content: z.string().max(8_000_000).optional().describe("none deletes"),
  encoding: z.enum(["text", "base64"]).optional(),
});

/** The ids of the files that a change set deletes, which the API asks for. */
async function findShas(
  { api }: McpCall,
  { owner, name, ref: at_ }: { owner: string; name: string; ref: string | undefined },
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (paths.length > DELETIONS_MAX) {
    throw invalid(`[files]: must delete at most ${DELETIONS_MAX} files at once`);
  }
  const found = await Promise.all(
    paths.map(async (each) => {
      const { body } = await api.get<Contents | readonly Contents[]>(
        at`/repos/${owner}/${name}/contents/${splitPath(each)}`,
        { ref: at_ },
      );
      if (!("sha" in body)) throw invalid(`[files]: ${each} is a directory`);
      return [each, body.sha] as const;
    }),
  );
  return new Map(found);
}

const findFiles = (
  call: McpCall,
  target: { owner: string; name: string; ref: string },
  query: string,
): Promise<Answer> =>
  openAt(call, target, async ({ snapshot, revision }) => {
    const list = await listPaths(snapshot.repository, revision);
    const { items, total } = await findPaths(list, query, PATHS_MAX);
    return answerList({
      noun: list.isComplete ? "files" : "files of those that are listed, which are not all",
      rows: items,
      total,
      cursor: undefined,
      line: (each) => each,
      item: (each) => ({ path: each }),
    });
  });

export const fileTools = [
  tool({
    name: "read_file",
    description: "Read a text file, or some of its lines.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, path, ref, from: line, to: line }),
    run: (call, { repository: fullName, path: file, ref: at_, from = 1, to }) =>
      readFile(call, fullName, { path: file, ref: at_, from, to }),
  }),
  tool({
    name: "list_files",
    description: "List a directory, or find files by letters of their path.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({
      repository,
      path: path.optional(),
      query: z.string().min(1).max(256).optional(),
      ref,
    }),
    async run(call, { repository: fullName, path: directory = "", query, ref: at_ = "" }) {
      const { owner, name } = splitName(fullName);
      if (query !== undefined) return findFiles(call, { owner, name, ref: at_ }, query);
      const { body } = await call.api.get<Contents | readonly Contents[]>(
        at`/repos/${owner}/${name}/contents/${splitPath(directory)}`,
        { ref: at_ },
      );
      const entries = "sha" in body ? [body] : body;
      return answerList({
        noun: "entries",
        rows: entries.slice(0, LINES_MAX),
        total: entries.length,
        cursor: undefined,
        line: (entry) =>
          entry.type === "dir" ? `${entry.path}/` : `${entry.path} ${entry.size} bytes`,
        item: (entry) => ({ path: entry.path, type: entry.type }),
      });
    },
  }),
  tool({
    name: "search_code",
    description: "Find a text in the files of a repository, in any case.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, query: z.string().min(1).max(256), ref, cursor }),
    run: (call, { repository: fullName, query, ref: at_ = "", cursor: from }) =>
      openAt(call, { ...splitName(fullName), ref: at_ }, async ({ snapshot, revision }) => {
        const after = decodePath(from);
        const found = await searchFiles(snapshot.repository, revision, query, after);
        return answerList({
          noun: `files with it, among ${found.searchedCount} that were searched`,
          rows: found.files,
          cursor: found.next === undefined ? undefined : encodePath(found.next),
          line: (file) =>
            [
              `${file.path}: ${file.lineCount}`,
              ...file.lines.map((each) => `  ${each.number}: ${each.text}`),
            ].join("\n"),
          item: (file) => ({
            path: file.path,
            lines: file.lines.map((each) => each.number),
          }),
        });
      }),
  }),
  tool({
    name: "blame_file",
    description: "Show the commit that each line of a file comes from.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, path, ref, from: line, to: line }),
    run: (call, { repository: fullName, path: file, ref: at_ = "", from = 1, to }) =>
      openAt(call, { ...splitName(fullName), ref: at_ }, async ({ ctx, snapshot, revision }) => {
        const blamed = await readBlame(ctx, snapshot, revision, splitPath(file));
        if (!blamed) throw notFound("no such file", "no-such-path");
        if (blamed.text === undefined) throw invalid("the file is no text, or too large");
        const last = to ?? from + LINES_MAX - 1;
        const parts = blamed.lines
          .filter(({ line: first, count }) => first < last && first + count >= from)
          .map(({ line: first, count, entry }) => ({
            from: first + 1,
            to: first + count,
            sha: entry.commitOid,
            subject: entry.commit.message.split("\n", 1)[0] ?? "",
          }));
        return answerList({
          noun: "parts",
          rows: parts,
          cursor: undefined,
          line: (part) => `${part.from}-${part.to} ${part.sha.slice(0, 10)} ${part.subject}`,
          item: (part) => ({ from: part.from, to: part.to, sha: part.sha }),
        });
      }),
  }),
  tool({
    name: "commit_files",
    description: "Write and delete files in one commit, all or none.",
    effect: "write",
    scopes: ["write:repository"],
    input: z.object({
      repository,
      branch: z.string().max(1000).optional(),
      new_branch: z.string().max(1000).optional().describe("created from branch"),
      message: z.string().min(1).max(65_535),
      files: z.array(fileChange).min(1).max(CHANGES_MAX),
    }),
    async run(call, { repository: fullName, branch, new_branch: newBranch, message, files }) {
      const { owner, name } = splitName(fullName);
      const deleted = files.filter(({ content }) => content === undefined).map((each) => each.path);
      const shas = await findShas(call, { owner, name, ref: branch }, deleted);
      const { body } = await call.api.post<z.infer<typeof FilesResponse>>(
        at`/repos/${owner}/${name}/contents`,
        {
          message,
          ...(branch !== undefined && { branch }),
          ...(newBranch !== undefined && { new_branch: newBranch }),
          files: files.map(({ path: file, content, encoding }) =>
            content === undefined
              ? { operation: "delete", path: file, sha: shas.get(file) }
              : {
                  operation: "upload",
                  path: file,
                  content:
                    encoding === "base64"
                      ? content
                      : formatBase64(new TextEncoder().encode(content)),
                },
          ),
        },
      );
      const { sha, html_url: url } = body.commit;
      return {
        summary: `Committed ${files.length} files as ${sha}: ${url}`,
        structured: { sha, url, branch: newBranch ?? branch },
      };
    },
  }),
];
