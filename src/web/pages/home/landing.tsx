import type { Context } from "hono";

import { isRegistrationOn } from "../../../domain/people/accounts/register.ts";
import type { WebEnv } from "../../env.ts";
import { Icon } from "../icon.tsx";
import type { Page } from "../open-page.ts";
import { renderPage } from "../render-page.tsx";

const FEATURES = [
  {
    icon: "branch",
    title: "Code",
    text: "Git over HTTPS with large files, branch rules, signatures and mirrors.",
  },
  {
    icon: "pull",
    title: "Issues and pull requests",
    text: "Reviews, a merge queue, labels, milestones, and time that is spent.",
  },
  {
    icon: "package",
    title: "Packages and releases",
    text: "Registries for npm, containers, PyPI, Maven, Cargo and seven more formats.",
  },
  {
    icon: "link",
    title: "An API for everything",
    text: "The interface of Gitea, webhooks, feeds, and tokens for one purpose.",
  },
] as const;

/** The first page for readers who are not signed in: what the service is, and how to begin. */
export function renderLanding(c: Context<WebEnv>, page: Page): Promise<Response> {
  const { config } = page.ctx;
  return renderPage(
    c,
    page,
    { title: "Home", isPublic: true },
    <>
      <section class="hero">
        <h1>{config.appName}</h1>
        <p>Git repositories with issues, pull requests, releases and packages.</p>
        <div class="row">
          {config.isSignInRequired ? undefined : (
            <a class="button primary" href="/explore/repos">
              Explore repositories
            </a>
          )}
          <a class="button" href="/user/login">
            Sign in
          </a>
          {isRegistrationOn(config) ? (
            <a class="button" href="/user/sign_up">
              Register
            </a>
          ) : undefined}
        </div>
      </section>
      <ul class="cards">
        {FEATURES.map(({ icon, title, text }) => (
          <li class="card">
            <h2>
              <Icon name={icon} />
              {title}
            </h2>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </>,
  );
}
