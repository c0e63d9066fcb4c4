import { z } from "@hono/zod-openapi";

import type { Commit } from "../../shapes/git/commit.ts";
import { answerList, type Answer, CHARS_MAX } from "../answer.ts";
import { type ApiPath, at, type McpCall } from "../call.ts";
import { readTextPart } from "../read-text.ts";
import {
  cursor,
  nextPage,
  offsetOf,
  pageQuery,
  path,
  ref,
  repository,
  splitName,
} from "./fields.ts";
import { tool } from "./tool.ts";

const lineOf = (commit: Commit): string =>
  `${commit.sha} ${commit.commit.author.date} ${commit.commit.author.name}: ${subjectOf(commit)}`;

const subjectOf = ({ commit }: Commit): string => commit.message.split("\n", 1)[0] ?? "";

const itemOf = ({ sha, html_url: url }: Commit) => ({ sha, url });

/** Maximum characters of a message that stands before a diff. */
const HEAD_CHARS_MAX = 10_000;

/** Answers the part of a diff that a cursor names, with what stands before the first part. */
export async function answerDiff(
  { api }: McpCall,
  diff: ApiPath,
  given: string | undefined,
  head: Answer,
): Promise<Answer> {
  const from = offsetOf(given);
  const before = (from === 0 ? (head.data ?? []) : []).map(({ label, text }) => ({
    label,
    text: text.slice(0, HEAD_CHARS_MAX).toWellFormed(),
  }));
  const left = CHARS_MAX - before.reduce((sum, data) => sum + data.text.length, 0);
  const { text, next } = await readTextPart(await api.file(diff), from, left);
  return {
    ...head,
    data: [...before, { label: "diff", text }],
    structured: { ...head.structured, cursor: next === undefined ? undefined : String(next) },
    next:
      next === undefined ? undefined : `For more of the diff, call again with cursor "${next}".`,
  };
}

interface Compared {
  readonly total_commits: number;
  readonly commits: readonly Commit[];
  readonly behind_by: number;
  readonly files:
    | readonly { filename: string; status: string; additions: number; deletions: number }[]
    | null;
}

export const commitTools = [
  tool({
    name: "list_commits",
    description: "List commits, latest first, of all files or of a path.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, ref, path: path.optional(), cursor }),
    async run({ api }, { repository: fullName, ref: sha, path: file, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const page = await api.get<Commit[]>(at`/repos/${owner}/${name}/commits`, {
        sha,
        path: file,
        stat: false,
        files: false,
        verification: false,
        ...pageQuery(from),
      });
      return answerList({
        noun: "commits",
        rows: page.body,
        total: page.total,
        cursor: nextPage(from, page),
        line: lineOf,
        item: itemOf,
      });
    },
  }),
  tool({
    name: "get_commit",
    description: "Show a commit with its message and diff.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({ repository, sha: z.string().max(1024), cursor }),
    async run(call, { repository: fullName, sha, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const { body: commit } = await call.api.get<Commit>(
        at`/repos/${owner}/${name}/git/commits/${sha}`,
        { verification: false, files: false },
      );
      return answerDiff(
        call,
        at`/repos/${owner}/${name}/git/commits/${`${commit.sha}.diff`}`,
        from,
        {
          summary: `Commit ${commit.sha}: ${commit.html_url}`,
          data: [{ label: "commit", text: `${lineOf(commit)}\n\n${commit.commit.message}` }],
          structured: { ...itemOf(commit), parents: commit.parents.map((parent) => parent.sha) },
        },
      );
    },
  }),
  tool({
    name: "compare",
    description: "Compare two branches, tags or commits: commits and changed files.",
    effect: "read",
    scopes: ["read:repository"],
    input: z.object({
      repository,
      base: z.string().max(1024),
      head: z.string().max(1024).describe("or owner:branch of a fork"),
      cursor,
    }),
    async run({ api }, { repository: fullName, base, head, cursor: from }) {
      const { owner, name } = splitName(fullName);
      const page = await api.get<Compared>(
        at`/repos/${owner}/${name}/compare/${`${base}...${head}`}`,
        {
          verification: false,
          stat: false,
          ...pageQuery(from),
        },
      );
      const { total_commits: ahead, behind_by: behind, commits, files } = page.body;
      const list = answerList({
        noun: `commits, ${behind} behind`,
        rows: commits,
        total: ahead,
        cursor: nextPage(from, page),
        line: lineOf,
        item: itemOf,
      });
      const changed = (files ?? []).map(
        (file) => `${file.status} ${file.filename} +${file.additions} -${file.deletions}`,
      );
      return {
        ...list,
        data: [...(list.data ?? []), { label: "changed files", text: changed.join("\n") }],
      };
    },
  }),
];
