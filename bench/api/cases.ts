import { nextByTeam } from "./organization.ts";
import {
  COLLECTOR,
  COMMON_WORD,
  CREATOR,
  isLimited,
  isPrivate,
  MEMBER,
  ownerOf,
  RARE_WORD,
  repositoryName,
  tokens,
  userName,
  type Population,
} from "./population.ts";

/** A request, without the server's origin. */
export type Request = {
  method: string;
  path: string;
  token?: string;
  headers?: Readonly<Record<string, string>>;
  /** A text in ASCII; JSON unless the headers say otherwise. */
  body?: string | Uint8Array;
};

/** A measured request of the API. */
export type Case = {
  name: string;
  /** Whether it may read more rows from larger tables; all other cases may not. */
  isDeep?: boolean;
  /** The expected status. */
  status: number;
  /** The next request; requests for a repository name a different one each time. */
  next: () => Request;
};

/** The last full page of the collector's stars: page 1,000 at full scale. */
const lastPage = ({ repositories }: Population): number => Math.floor((repositories * 0.3) / 30);

/** In the order in which they run: the case that writes comes last. */
export function casesOf(population: Population): Case[] {
  const reader = tokens[COLLECTOR];
  const get = (name: string, path: string, more: Partial<Case> = {}): Case => ({
    name,
    status: 200,
    next: () => ({ method: "GET", path: `/api/v1${path}`, token: reader }),
    ...more,
  });
  const deep = lastPage(population);

  return [
    // Anonymous, because clients use it to identify the server.
    { name: "version", status: 200, next: () => ({ method: "GET", path: "/api/v1/version" }) },
    { name: "user", status: 200, next: () => ({ method: "GET", path: nextUser(population) }) },
    get("current user", "/user"),
    get("repository", "", {
      next: () => ({ method: "GET", path: nextRepository(population), token: reader }),
    }),
    get("repository, by a team", "", {
      next: () => ({ method: "GET", path: nextByTeam(population), token: tokens[MEMBER] }),
    }),
    get("own teams", "/user/teams", {
      next: () => ({ method: "GET", path: "/api/v1/user/teams", token: tokens[MEMBER] }),
    }),
    get("search, common word", `/repos/search?q=${COMMON_WORD}`),
    get("search, rare word", `/repos/search?q=${RARE_WORD}`),
    get("starred, page 1", "/user/starred"),
    get(`starred, page ${deep.toLocaleString("en")}`, `/user/starred?page=${deep}`, {
      isDeep: true,
    }),
    { name: "create repository", status: 201, next: nextCreation },
  ];
}

let turn = 0;

function nextUser({ users }: Population): string {
  turn += 1;
  const at = (turn * 7919) % users;
  return `/api/v1/users/${userName(isLimited(at) ? at - 1 : at)}`;
}

function nextRepository({ repositories }: Population): string {
  turn += 1;
  // A step that is coprime to the number of repositories reaches all of them.
  const at = (turn * 7919) % repositories;
  const repository = isPrivate(at) ? (at + 1) % repositories : at;
  return `/api/v1/repos/${userName(ownerOf(repository))}/${repositoryName(repository)}`;
}

function nextCreation(): Request {
  turn += 1;
  return {
    method: "POST",
    path: "/api/v1/user/repos",
    token: tokens[CREATOR],
    body: JSON.stringify({ name: `new-${turn}`, description: "Created by the benchmark" }),
  };
}
