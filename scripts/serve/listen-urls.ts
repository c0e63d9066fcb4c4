import { hostname, networkInterfaces } from "node:os";

import { toLocalOrigin } from "./local-origin.ts";
import type { Vars } from "./vars.ts";

/**
 * The variable LISTEN_URLS of a service that listens on `host` and `port`: first the URL that
 * others than the caller are given, then the other addresses and the name of this machine, and the
 * operator's own list.
 *
 * The addresses are those of the moment: a machine whose addresses change needs a restart, or
 * ROOT_URL.
 */
export function formatListenUrls(host: string, port: number, vars: Vars): string {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    // Link-local addresses are never sent to, and their zone has no place in a URL.
    .filter(({ family, scopeid }) => family === "IPv4" || !scopeid)
    .map(({ address }) => address);
  const name = /^[a-z0-9.-]+$/i.test(hostname()) ? [hostname()] : [];
  const urls = [
    toLocalOrigin(toUrl(host)),
    ...[...addresses, ...name].map((each) => toUrl(each).origin),
  ];
  const given = vars["LISTEN_URLS"];
  return [...new Set(urls), ...(typeof given === "string" && given !== "" ? [given] : [])].join(
    ",",
  );

  function toUrl(each: string): URL {
    return new URL(`http://${each.includes(":") ? `[${each}]` : each}:${port}`);
  }
}
