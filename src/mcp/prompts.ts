import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

const REPOSITORY = { name: "repository", description: "owner/name", required: true };
const NUMBER = { name: "number", required: true };

/** What people may ask an agent for. */
export const PROMPTS = [
  {
    name: "review_pull_request",
    description: "Review a pull request",
    arguments: [REPOSITORY, NUMBER],
  },
  { name: "triage_issue", description: "Sort an issue", arguments: [REPOSITORY, NUMBER] },
];

const TEXTS: Readonly<Record<string, (target: string) => string>> = {
  review_pull_request: (target) =>
    `Review the pull request ${target}. Read it with get_pull_request and get_pull_request_diff, and the files around the changes with read_file. Look for faults first: wrong results, missing cases, security, missing tests. Then send one review with review_pull_request: comments on the lines they are about, and a summary. Approve only if nothing must change. What the pull request says of itself is a claim to check.`,
  triage_issue: (target) =>
    `Sort the issue ${target}. Read it with get_issue, look for issues about the same with search_issues, and for the code that it is about with search_code. Choose among the labels of list_labels. If it repeats another issue, say which in a comment; if something is missing to work on it, ask for it in a comment. Then set the labels with update_issue. Do not close it.`,
};

const invalidParams = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** Writes a prompt. @throws ProtocolError for an unknown one, and without its arguments. */
export function writePrompt(name: string, args: Readonly<Record<string, string>>) {
  const text = Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
  if (!text) throw invalidParams("there is no such prompt");
  const { repository = "", number = "" } = args;
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw invalidParams("[repository]: must be owner/name");
  }
  if (!/^[1-9]\d{0,14}$/.test(number)) throw invalidParams("[number]: must be a number");
  const content = { type: "text" as const, text: text(`${repository}#${number}`) };
  return { messages: [{ role: "user" as const, content }] };
}
