import { forEachAtOnce } from "../packages/registry.ts";
import type { Side } from "./side.ts";

/** What both sides have, made by their APIs. */
export type Data = {
  /** Tokens of some accounts, since renderings are limited by account. */
  tokens: readonly string[];
  /** The number of repositories, numbered from 0. */
  repositories: number;
};

const USERS = 20;
const FILES = 30;
const COMMITS = 10;
const LABELS = 10;
const ISSUES = 60;
const PULLS = 5;
/** Repositories with a commit, to which files are added. */
export const FILLED = 30;
const AT_ONCE = 4;

const WORDS = "amber basil cedar delta ember fjord grove haven ivory jetty".split(" ");
const word = (at: number): string => WORDS[at % WORDS.length] ?? "";

export const userName = (user: number): string => `user-${user % USERS}`;

/** A word in the names of a tenth of the repositories. */
export const SEARCHED = word(0);

/** Repositories belong to the users in turn. */
const repositoryName = (repository: number): string => `${word(repository)}-${repository}`;

/** The path of a repository, below the API's. */
export const repositoryPath = (repository: number): string =>
  `/repos/${userName(repository)}/${repositoryName(repository)}`;

/** The repository with files, commits, issues and pull requests: the first. */
export const LARGE = repositoryPath(0);

/** Lays the same data in a service. */
export async function layData(side: Side, repositories: number): Promise<Data> {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  for (const user of numbers(USERS)) {
    const name = userName(user);
    await side.send("POST", "/admin/users", {
      username: name,
      email: `${name}@example.com`,
      password: `The-password-of-${name}-1`,
      must_change_password: false,
    });
  }
  const tokens: string[] = [];
  for (const user of numbers(USERS)) tokens.push(await side.makeToken(userName(user)));
  await forEachAtOnce(numbers(repositories), AT_ONCE, async (at) => {
    await side.send("POST", `/admin/users/${userName(at)}/repos`, {
      name: repositoryName(at),
      description: `The ${word(at * 7)} that ${word(at * 3)} people use`,
      auto_init: at < FILLED,
      default_branch: "main",
    });
  });
  await layContent(side, numbers);
  return { tokens, repositories };
}

async function layContent(side: Side, numbers: (count: number) => number[]): Promise<void> {
  const content = (text: string): string => Buffer.from(`${text}\n`.repeat(20)).toString("base64");
  await side.send("POST", `${LARGE}/contents`, {
    message: "Add the sources",
    files: numbers(FILES).map((at) => ({
      operation: "create",
      path: `src/${word(at)}/file-${at}.txt`,
      content: content(`line of file ${at}`),
    })),
  });
  for (const at of numbers(COMMITS)) {
    await side.send("POST", `${LARGE}/contents/docs/page-${at}.md`, {
      message: `Add page ${at}`,
      content: content(`# Page ${at}`),
    });
  }
  for (const at of numbers(LABELS)) {
    await side.send("POST", `${LARGE}/labels`, { name: `label-${at}`, color: "#00aabb" });
  }
  for (const at of numbers(ISSUES)) {
    await side.send("POST", `${LARGE}/issues`, {
      title: `Issue about ${word(at)} ${at}`,
      body: `The **text** of issue ${at}.`,
    });
  }
  for (const at of numbers(PULLS)) {
    await side.send("POST", `${LARGE}/contents/change-${at}.txt`, {
      message: `Change ${at}`,
      content: content(`change ${at}`),
      new_branch: `change-${at}`,
    });
    await side.send("POST", `${LARGE}/pulls`, {
      title: `Change ${at}`,
      head: `change-${at}`,
      base: "main",
    });
  }
}
