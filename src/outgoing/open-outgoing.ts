import type { Config } from "../config.ts";
import { DnsOverHttps, NO_RESOLVER } from "./name-resolver.ts";
import { Outgoing } from "./outgoing.ts";

/**
 * Opens the client for outgoing requests with the configured rules.
 *
 * @param origin    The origin at which the caller reached the service, to which requests may go;
 *   "" in jobs.
 * @param userAgent Sent as `User-Agent`.
 */
export function openOutgoing(config: Config, origin: string, userAgent: string): Outgoing {
  const { allowedHosts, blockedHosts, dnsResolverUrl, rootUrl, listenUrls } = config;
  const resolver = dnsResolverUrl === "" ? NO_RESOLVER : new DnsOverHttps(dnsResolverUrl);
  // SECURITY: the origin only adds to the configured addresses, because callers may forge it.
  const ownUrls = [rootUrl, ...listenUrls, origin];
  const rules = { allowed: allowedHosts, blocked: blockedHosts, ownUrls };
  return new Outgoing(rules, resolver, userAgent);
}
