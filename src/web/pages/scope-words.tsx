import type { Scopes } from "../../auth/scope.ts";
import type { RequestedScopes } from "../../domain/people/oauth/requested-scopes.ts";

export type Category = Parameters<Scopes["levels"]["get"]>[0];

/** The words for the access that a scope gives. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  activitypub: "federation",
  admin: "the administration of this service, as far as you administer it",
  misc: "settings and templates of this service",
  notification: "your notifications",
  organization: "your organizations and teams",
  package: "your packages",
  issue: "issues, labels and milestones",
  repository: "your repositories, with code, pull requests and releases",
  user: "your account: profile, addresses, keys and settings",
};

const IDENTITY: Readonly<Record<RequestedScopes["identity"][number], string>> = {
  openid: "Know who you are, to sign you in",
  profile: "Read your name, picture and page",
  email: "Read your primary e-mail address",
  groups: "Read the names of your organizations and teams",
};

function Changes({ text }: { text: string | undefined }) {
  return text === undefined ? <></> : <div class="soft">{text}</div>;
}

interface ScopeWordsProps extends RequestedScopes {
  /** What changes of a category are, where the page says so. */
  changesOf?: (category: Category) => string | undefined;
}

/** The scopes of an application, one in each line. */
export function ScopeWords({ scopes, identity, changesOf }: ScopeWordsProps) {
  const { levels, isPublicOnly, text } = scopes;
  const isAll = text.split(",").includes("all");
  return (
    <ul>
      {identity.map((name) => (
        <li>
          {IDENTITY[name]} <code>{name}</code>
        </li>
      ))}
      {isAll ? (
        <li>
          <strong>Everything you may do here</strong>, except to sign in as you and to make tokens{" "}
          <code>all</code>
        </li>
      ) : (
        [...levels].map(([category, level]) => (
          <li>
            {level === "write" ? "Read and change" : "Read"} {CATEGORY_WORDS[category]}{" "}
            <code>{`${level}:${category}`}</code>
            <Changes text={level === "write" ? changesOf?.(category) : undefined} />
          </li>
        ))
      )}
      {isPublicOnly ? (
        <li>
          Of all this, only what is public <code>public-only</code>
        </li>
      ) : undefined}
    </ul>
  );
}
