import { ResourceNotFoundError } from "@modelcontextprotocol/server";

import { asFailure } from "../entrance/as-failure.ts";
import { Failure } from "../lib/failure.ts";
import type { Issue } from "../shapes/issues/issue.ts";
import { renderAnswer, type Answer } from "./answer.ts";
import { at, type McpCaller } from "./call.ts";
import { internalError } from "./internal-error.ts";
import { readFile } from "./tools/files.ts";
import { lineOf } from "./tools/issues.ts";

/** What clients may read by address. */
export const RESOURCE_TEMPLATES = [
  {
    name: "file",
    uriTemplate: "repository://{owner}/{name}/files/{ref}/{+path}",
    description: "A text file of a branch, tag or commit; slashes of the ref are written %2F",
  },
  {
    name: "issue",
    uriTemplate: "repository://{owner}/{name}/issues/{number}",
    description: "An issue or pull request",
  },
] as const;

const FILE = /^repository:\/\/([^/]+)\/([^/]+)\/files\/([^/]+)\/(.+)$/;
const ISSUE = /^repository:\/\/([^/]+)\/([^/]+)\/issues\/([1-9]\d{0,14})$/;

/**
 * Reads a resource.
 *
 * @throws ResourceNotFoundError for what does not exist, or the caller may not see.
 */
export async function readResource(caller: McpCaller, uri: string) {
  const answer = await findAnswer(caller, uri);
  if (!answer) throw new ResourceNotFoundError(uri);
  const [content] = renderAnswer(answer).content;
  return { contents: [{ uri, mimeType: "text/plain", text: content?.text ?? "" }] };
}

async function findAnswer(caller: McpCaller, uri: string): Promise<Answer | undefined> {
  const call = { ...caller, actor: caller.ctx.actor };
  try {
    const file = FILE.exec(uri);
    if (file) {
      const [owner = "", name = "", ref = "", path = ""] = file.slice(1).map(decodeURIComponent);
      return await readFile(call, `${owner}/${name}`, { path, ref, from: 1, to: undefined });
    }
    const issue = ISSUE.exec(uri);
    if (!issue) return undefined;
    const [owner = "", name = "", number = ""] = issue.slice(1).map(decodeURIComponent);
    const { body } = await caller.api.get<Issue>(at`/repos/${owner}/${name}/issues/${number}`);
    return {
      summary: `#${number}, ${body.state}: ${body.html_url}`,
      data: [{ label: `#${number}`, text: `${lineOf(body)}\n\n${body.body}` }],
      structured: {},
    };
  } catch (thrown) {
    const error = asFailure(thrown);
    // What decodeURIComponent throws.
    if (error instanceof Failure || error instanceof URIError) return undefined;
    throw internalError(caller.requestId, error);
  }
}
