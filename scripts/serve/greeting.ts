import type { FirstAdministrator } from "./first-administrator.ts";
import { listensOnAll, toLocalOrigin } from "./local-origin.ts";

export function greeting(
  url: URL,
  user: string,
  administrator: FirstAdministrator | undefined,
): string[] {
  const origin = toLocalOrigin(url);
  // curl prompts for any other password, which is unknown or should not be on the screen.
  const credentials = administrator?.generatedPassword
    ? `${user}:${administrator.generatedPassword}`
    : user;
  const body = `'{"name":"hello","auto_init":true}'`;
  return [
    `create a repository:  curl -u ${credentials} -H 'content-type: application/json' -d ${body} ${origin}/api/v1/user/repos`,
    `clone it:             git clone ${origin}/${user}/hello.git`,
    `read the interface:   ${origin}/api/swagger`,
  ];
}

export function describeAdministrator(administrator: FirstAdministrator): string {
  const { name, generatedPassword } = administrator;
  if (!generatedPassword) return `created the first administrator: ${name}`;
  return `created the first administrator: ${name}, password ${generatedPassword} (shown only this once)`;
}

/**
 * The hint of a service that other machines reach, and that does not know by which address;
 * otherwise none.
 */
export function rootUrlHint(url: URL, rootUrl: unknown): string[] {
  if (!listensOnAll(url) || rootUrl) return [];
  return [
    `links in events, webhooks and commits begin with ${toLocalOrigin(url)}: set ROOT_URL to the address that people use`,
  ];
}
