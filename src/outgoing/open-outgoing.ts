import type { Config } from "../config.ts";
import { DnsOverHttps, NO_RESOLVER } from "./name-resolver.ts";
import { Outgoing } from "./outgoing.ts";

/**
 * Opens the client for outgoing requests with the configured rules.
 *
 * @param ownUrl    The service's own URL, to which requests are blocked; "" if it is unknown.
 * @param userAgent Sent as `User-Agent`.
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
