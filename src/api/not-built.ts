import { TrieRouter } from "hono/router/trie-router";

/**
 * Operations of Gitea's API, version 1.25, that do not exist here yet: methods and path, one path a
 * line.
 *
 * One is left out, since an operation that exists takes a word of its path for an id:
 * `/repos/{owner}/{repo}/hooks/git`.
 */
const LIST = `
GET /activitypub/user-id/{id}
POST /activitypub/user-id/{id}/inbox
GET DELETE PATCH /repos/{owner}/{repo}/hooks/git/{id}
`;

/** Each operation of the list, as method and path. */
export const notBuilt: readonly (readonly [method: string, path: string])[] = LIST.trim()
  .split("\n")
  .flatMap((line) => {
    const words = line.split(" ");
    const path = words.pop() ?? "";
    return words.map((method) => [method, path] as const);
  });

let router: TrieRouter<true> | undefined;

/** Whether a request is for an operation of Gitea that does not exist here yet. */
export function isNotBuilt(method: string, path: string): boolean {
  if (!router) {
    router = new TrieRouter();
    for (const [each, pattern] of notBuilt) {
      router.add(each, pattern.replaceAll(/\{(\w+)\}(?:\.\{\w+\})?/g, ":$1"), true);
    }
  }
  return router.match(method === "HEAD" ? "GET" : method, path)[0].length > 0;
}
