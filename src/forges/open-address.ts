import { formatBase64 } from "../lib/base64.ts";
import type { ApiClient } from "./api-client.ts";
import { type ForgeAddress, parseProjectPath } from "./forge-address.ts";

/** A project in the API of Gitea and Gogs. */
export interface OpenedAddress {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the project below the base, encoded. */
  readonly path: string;
  /** Of its owner, encoded. */
  readonly owner: string;
  /** The forge's pages, without a slash at the end. */
  readonly rootUrl: string;
}

/** @throws RemoteFailure `not_found` if it is not the address of a project. */
export function openAddress(address: ForgeAddress): OpenedAddress {
  const { rootUrl, owner, name } = parseProjectPath(address);
  return {
    baseUrl: `${rootUrl}/api/v1`,
    headers: authorizationOf(address),
    path: `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`,
    owner: encodeURIComponent(owner),
    rootUrl,
  };
}

/**
 * Tokens have a scheme of their own; a user name comes with a password, or with a token in its
 * place.
 */
function authorizationOf({ username, password }: ForgeAddress): Record<string, string> {
  if (username === "" && password === "") return {};
  if (username === "") return { Authorization: `token ${password}` };
  const pair = new TextEncoder().encode(`${username}:${password}`);
  return { Authorization: `Basic ${formatBase64(pair)}` };
}

/**
 * Where git is fetched. A server whose settings lack its public address tells one that leads
 * nowhere, or elsewhere with the credentials: then it is the address that was given, which serves
 * git too.
 */
export const cloneUrlOf = (client: ApiClient, told: string, { url }: ForgeAddress): string =>
  client.isOwn(told) ? told : url;
