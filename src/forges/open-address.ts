import { formatBase64 } from "../lib/base64.ts";
import type { ApiClient } from "./api-client.ts";
import { type ForgeAddress, parseProjectPath } from "./forge-address.ts";

/** A project in the API of Gitea and Gogs. */
export interface OpenedAddress {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the project below the base, encoded. */
  readonly path: string;
  /** The name of its owner, encoded. */
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
 * The address for fetches. A server without a configured public address states one that leads
 * nowhere, or sends the credentials elsewhere: then the import's own address is used, which serves
 * git too.
 */
export const cloneUrlOf = (client: ApiClient, stated: string, { url }: ForgeAddress): string =>
  client.isOwn(stated) ? stated : url;
