import { inject } from "vitest";

import { ADMIN } from "./start-service.ts";

export const serviceUrl = inject("serviceUrl");

/** An account that calls the service. */
export interface Caller {
  readonly name: string;
  readonly password: string;
}

export const admin: Caller = ADMIN;

const basic = ({ name, password }: Caller): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;

/** Calls the API and returns the response body. @throws Error if the status is not a success. */
export async function callApi<T = Record<string, unknown>>(
  caller: Caller,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${serviceUrl}/api/v1${path}`, {
    method,
    headers: { Authorization: basic(caller), "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? {} : JSON.parse(text)) as T;
}

let serial = 0;
export const freshName = (prefix: string): string =>
  `${prefix}-${++serial}-${Math.random().toString(36).slice(2, 8)}`;

export async function makeUser(): Promise<Caller> {
  const name = freshName("user");
  const password = "battery horse staple";
  const email = `${name}@example.com`;
  const body = { username: name, password, email, must_change_password: false };
  await callApi(admin, "POST", "/admin/users", body);
  return { name, password };
}

/** Creates a token and returns its secret. */
export async function makeToken(caller: Caller, ...scopes: string[]): Promise<string> {
  const path = `/users/${caller.name}/tokens`;
  const body = { name: freshName("token"), scopes };
  return (await callApi<{ sha1: string }>(caller, "POST", path, body)).sha1;
}

export interface Repo {
  readonly owner: string;
  readonly name: string;
  /** URL without credentials. */
  readonly url: string;
  /** URL with the owner's credentials. */
  readonly ownUrl: string;
  readonly path: string;
}

export async function makeRepo(owner: Caller = admin, fields: object = {}): Promise<Repo> {
  const name = freshName("repo");
  await callApi(owner, "POST", "/user/repos", { name, ...fields });
  const url = `${serviceUrl}/${owner.name}/${name}.git`;
  return {
    owner: owner.name,
    name,
    url,
    ownUrl: urlAs(url, owner.name, owner.password),
    path: `/repos/${owner.name}/${name}`,
  };
}

/** A URL with credentials. */
export function urlAs(url: string, name: string, password: string): string {
  const address = new URL(url);
  address.username = name;
  address.password = encodeURIComponent(password);
  return address.href;
}

/** The repository's JSON in the API. */
export const readRepo = (repo: Repo): Promise<Record<string, unknown>> =>
  callApi(admin, "GET", repo.path);
