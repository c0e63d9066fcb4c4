import type { Config } from "../config.ts";
import { DnsOverHttps, NO_RESOLVER } from "./name-resolver.ts";
import { Outgoing } from "./outgoing.ts";

/**
 * The way out as the configuration allows it.
 *
 * @param ownUrl    The service's own address, which it never asks; "" if it isn't known.
 * @param userAgent What requests say that they are from.
 */
export function openOutgoing(config: Config, ownUrl: string, userAgent: string): Outgoing {
  const { allowedHosts, blockedHosts, dnsResolverUrl } = config;
  const resolver = dnsResolverUrl === "" ? NO_RESOLVER : new DnsOverHttps(dnsResolverUrl);
  return new Outgoing(
    { allowed: allowedHosts, blocked: blockedHosts, ownUrl },
    resolver,
    userAgent,
  );
}
