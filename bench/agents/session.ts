import { z } from "zod";

import { sendJson } from "../support/send-json.ts";
import { formatToolCall } from "./tool-call.ts";

/** How a session does its steps: by tools, or by the same operations of the API. */
export type Steps = {
  createRepository: (name: string) => Promise<unknown>;
  readFile: (name: string, path: string) => Promise<unknown>;
  commitFile: (name: string) => Promise<unknown>;
  createPullRequest: (name: string) => Promise<unknown>;
  mergePullRequest: (name: string) => Promise<unknown>;
};

export type Target = {
  origin: string;
  token: string;
  /** The account whose repositories are made. */
  owner: string;
  /** The name of the template, which the account owns. */
  template: string;
};

/** Files that a session reads. */
export const READS = 10;

export const pathOf = (file: number): string => `src/file-${file}.txt`;

const CHANGE = "a change\n";

const Result = z.object({
  result: z.object({ isError: z.boolean().optional(), content: z.array(z.unknown()) }),
});

/** The steps by tools, in requests that stand alone. */
export function byTools({ origin, token, owner, template }: Target): Steps {
  const url = new URL("/mcp", origin);
  const call = async (name: string, args: object): Promise<void> => {
    const { headers, body } = formatToolCall(token, name, args);
    const answer = await sendJson("POST", url, headers, body);
    const parsed = answer.status === 200 ? Result.safeParse(JSON.parse(answer.text)) : undefined;
    if (!parsed?.success || parsed.data.result.isError) {
      throw new Error(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  };
  const at = (name: string) => ({ repository: `${owner}/${name}` });
  return {
    createRepository: (name) =>
      call("create_repository", { name, template: `${owner}/${template}` }),
    readFile: (name, path) => call("read_file", { ...at(name), path }),
    commitFile: (name) =>
      call("commit_files", {
        ...at(name),
        branch: "main",
        new_branch: "topic",
        message: "Change a file",
        files: [{ path: pathOf(0), content: CHANGE }],
      }),
    createPullRequest: (name) =>
      call("create_pull_request", { ...at(name), head: "topic", base: "main", title: "A change" }),
    mergePullRequest: (name) => call("merge_pull_request", { ...at(name), number: 1 }),
  };
}

/** The steps by the operations that the tools call. */
export function byApi({ origin, token, owner, template }: Target): Steps {
  const call = async (method: string, path: string, body?: object): Promise<void> => {
    const url = new URL(`/api/v1${path}`, origin);
    const answer = await sendJson(method, url, { authorization: `token ${token}` }, body);
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  };
  const at = (name: string): string => `/repos/${owner}/${name}`;
  return {
    createRepository: (name) =>
      call("POST", `${at(template)}/generate`, { name, owner, git_content: true, topics: true }),
    readFile: (name, path) => call("GET", `${at(name)}/raw/${path}`),
    commitFile: (name) =>
      call("POST", `${at(name)}/contents`, {
        branch: "main",
        new_branch: "topic",
        message: "Change a file",
        files: [
          {
            operation: "upload",
            path: pathOf(0),
            content: Buffer.from(CHANGE).toString("base64"),
          },
        ],
      }),
    createPullRequest: (name) =>
      call("POST", `${at(name)}/pulls`, { head: "topic", base: "main", title: "A change" }),
    mergePullRequest: async (name) => {
      await call("POST", `${at(name)}/pulls/1/merge`, { Do: "merge" });
      await call("GET", `${at(name)}/pulls/1`);
    },
  };
}
