import type { Request } from "../api/cases.ts";
import { type Data, FILLED, LARGE, repositoryPath, SEARCHED, userName } from "./data.ts";

/** A measured request of the API, the same for both sides. */
export type PeerCase = {
  name: string;
  caller: "token" | "anonymous";
  status: number;
  /** The least share of the other side's requests per second that is good enough. */
  shareMin: number;
  /** @param turn Counts the requests of the side; no other request has its number. */
  next: (turn: number, data: Data, token: string) => Request;
};

/** Requests per second, as a share of the other side's. */
const SHARE_MIN = 1;
/** Of a request that nothing is done for: what remains is the HTTP server of the runtime. */
const VERSION_SHARE_MIN = 0.4;

const MARKDOWN =
  "# A title\n\nA *text* with a [link](https://example.com) and `code`.\n\n- one\n- two\n";

type Path = (turn: number, data: Data) => string;

/** Reads come before writes, which change the data. */
export const CASES: readonly PeerCase[] = [
  ...readBoth("version", () => "/version", VERSION_SHARE_MIN),
  ...readBoth("user", (turn) => `/users/${userName(turn)}`),
  read("current user", "token", () => "/user"),
  ...readBoth("repository", (turn, { repositories }) => repositoryPath(turn % repositories)),
  ...readBoth("list of repositories", (turn) => `/users/${userName(turn)}/repos`),
  ...readBoth("contents", () => `${LARGE}/contents/docs/page-1.md`),
  ...readBoth("commits", () => `${LARGE}/commits?limit=10`),
  ...readBoth("tree", () => `${LARGE}/git/trees/main?recursive=true`),
  ...readBoth("search", () => `/repos/search?q=${SEARCHED}&limit=30`),
  ...readBoth("issue list", () => `${LARGE}/issues?limit=30&type=issues`),
  ...readBoth("pull list", () => `${LARGE}/pulls?state=open`),
  {
    name: "markdown",
    caller: "token",
    status: 200,
    shareMin: SHARE_MIN,
    next: (turn, { tokens }) => ({
      method: "POST",
      path: "/api/v1/markdown",
      ...tokenOf(tokens[turn % tokens.length]),
      body: JSON.stringify({ Text: MARKDOWN, Mode: "markdown" }),
    }),
  },
  write(
    "issue create",
    () => `${LARGE}/issues`,
    (turn) => ({ title: `New ${turn}`, body: "Text" }),
  ),
  write(
    "create repository",
    () => "/user/repos",
    (turn) => ({ name: `new-${turn}` }),
  ),
  // Requests that run at the same time are for different repositories.
  write(
    "create file",
    (turn) => `${repositoryPath(turn % FILLED)}/contents/made/file-${turn}.txt`,
    (turn) => ({ content: btoa(`made ${turn}\n`), message: `Make ${turn}` }),
  ),
];

const tokenOf = (token: string | undefined) => (token === undefined ? {} : { token });

function readBoth(name: string, path: Path, shareMin = SHARE_MIN): PeerCase[] {
  return (["token", "anonymous"] as const).map((caller) => read(name, caller, path, shareMin));
}

function read(
  name: string,
  caller: PeerCase["caller"],
  path: Path,
  shareMin = SHARE_MIN,
): PeerCase {
  return {
    name,
    caller,
    status: 200,
    shareMin,
    next: (turn, data, token) => ({
      method: "GET",
      path: `/api/v1${path(turn, data)}`,
      ...(caller === "token" && { token }),
    }),
  };
}

function write(name: string, path: Path, body: (turn: number) => object): PeerCase {
  return {
    name,
    caller: "token",
    status: 201,
    shareMin: SHARE_MIN,
    next: (turn, data, token) => ({
      method: "POST",
      path: `/api/v1${path(turn, data)}`,
      token,
      body: JSON.stringify(body(turn)),
    }),
  };
}
