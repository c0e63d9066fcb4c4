import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { inProject } from "../../../scripts/project.ts";
import { registries } from "../../../src/registries/index.ts";

/** The requests of one scenario to Gitea, with its answers. */
export interface Recording {
  readonly name: string;
  readonly steps: readonly Step[];
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A request, with `${names}` of values that earlier steps saved. */
export interface RequestStep {
  readonly name?: string;
  /** The role of the caller; null for an anonymous one. */
  readonly as?: string | null;
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** Paths in the answer's body by the names under which later steps use their values. */
  readonly save?: Readonly<Record<string, string>>;
  /**
   * What the body of the answer has once a job is done, by its path; asked for again until then.
   */
  readonly wait?: { readonly path: string; readonly equals: Json };
  /** A word on an answer that is not to be copied. */
  readonly note?: string;
  readonly answer: Answer;
}

/** Commands of a shell with git, in the folder that those of one recording share. */
export interface GitStep {
  readonly name?: string;
  readonly git: string;
  readonly answer: GitAnswer;
}

export interface GitAnswer {
  readonly exit: number;
  /** What the commands, or the server, wrote to the standard error with `remote:` before it. */
  readonly remote: readonly string[];
  /** The lines about refs that were refused. */
  readonly rejected: readonly string[];
}

export type Step = RequestStep | GitStep;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

export const isRequest = (step: Step): step is RequestStep => "method" in step;

/**
 * Whether a step outside the API changes nothing: a script that asks for several pages, or that
 * waits.
 */
const isReading = ({ git }: GitStep): boolean => /^(?:python3|curl|sleep) /.test(git);

/** All recordings of a folder, by name. */
export function readRecordings(folder: string): Recording[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => {
      const { steps } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Recording;
      return { name: file.replace(/\.json$/, ""), steps };
    });
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly pattern: RegExp;
}

/** The operations of the interface description; paths with fewer parameters first. */
const operations: readonly Operation[] = Object.entries(
  (
    JSON.parse(readFileSync(inProject("dist/assets/openapi.json"), "utf8")) as {
      paths: Record<string, Record<string, unknown>>;
    }
  ).paths,
)
  .flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path,
      pattern: patternOf(path),
    })),
  )
  .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length);

/** Names of files and branches, which end a path, contain slashes. */
function patternOf(path: string): RegExp {
  const text = path
    .replaceAll(/[.*+?^$()[\]|\\]/g, "\\$&")
    .replace(/\{(?:filepath|branch|ref|sha|archive|basehead)\}$/, ".+")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^(?:/api/v1)?${text}/?$`);
}

/** Paths outside the API that exist: the provider of OAuth 2.0. */
const PROVIDER = /^\/login\/oauth\/|^\/\.well-known\/openid-configuration$/;

/** Paths of the registries of packages that are served, as `/api/packages/:owner/generic`. */
const REGISTRIES: readonly RegExp[] = [
  ...new Set(registries.routes.map(({ path }) => path.split("/", 5).join("/"))),
]
  .filter((path) => path.startsWith("/api/packages/:owner/"))
  .map((path) => new RegExp(`^${path.replace(":owner", "[^/]+")}(?:/|$)`));

/**
 * Whether the service has the operation of a request to this path. Outside the API most of them
 * count as missing.
 */
function isBuilt(method: string, path: string): boolean {
  const [pathname = ""] = path.split("?");
  if (PROVIDER.test(pathname)) return true;
  if (REGISTRIES.some((registry) => registry.test(pathname))) return true;
  if (pathname.startsWith("/v2/")) return true;
  if (!pathname.startsWith("/api/v1/")) return false;
  return operations.some((each) => each.method === method && each.pattern.test(pathname));
}

/**
 * Missing operations whose effect few later answers show. What follows from one of them is in the
 * list of decided differences.
 */
const MINOR = /\/avatar$/;
/** The same for one recording, by its name. */
const MINOR_IN: Readonly<Record<string, RegExp>> = {
  "people-generate": /\/branch_protections$/,
};

/**
 * The steps of a recording that are played: those whose operations exist, up to the first request
 * that changed something by an operation which does not exist here, since later answers follow from
 * it.
 */
export function playable({ name: recording, steps }: Recording): Step[] {
  const list: Step[] = [];
  // A saved name of a repository contains its owner.
  const fullNames = new Set<string>();
  for (const step of steps) {
    if (!isRequest(step)) {
      if (!isReading(step)) list.push(step);
      continue;
    }
    const { method, answer, save = {} } = step;
    const path = step.path.replaceAll(/\$\{(\w+)\}/g, (_, name: string) =>
      fullNames.has(name) ? "owner/name" : "name",
    );
    const isChange = method !== "GET" && answer.status < 400;
    if (isBuilt(method, path)) list.push(step);
    else if (isChange && !MINOR.test(path) && !MINOR_IN[recording]?.test(path)) break;
    for (const [name, from] of Object.entries(save)) {
      if (from.endsWith("full_name")) fullNames.add(name);
    }
  }
  return list;
}
