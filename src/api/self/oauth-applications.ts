import { createRoute, z } from "@hono/zod-openapi";

import { createApplication } from "../../domain/people/oauth/create-application.ts";
import { deleteApplication } from "../../domain/people/oauth/delete-application.ts";
import { editApplication } from "../../domain/people/oauth/edit-application.ts";
import { findApplication } from "../../domain/people/oauth/find-application.ts";
import { listApplications } from "../../domain/people/oauth/list-applications.ts";
import {
  isRedirectUri,
  REDIRECT_URI_LENGTH_MAX,
  REDIRECT_URI_RULE,
  REDIRECT_URIS_MAX,
} from "../../domain/people/oauth/redirect-uri.ts";
import { OAuth2Application, toOAuth2Application } from "../../shapes/users/oauth-application.ts";
import { empty, json, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";
import { body, optionalFlag, requiredText } from "../json-body.ts";
import { Paging, pageOf, readPageOrAll } from "../paging.ts";
import { PathId } from "../path-id.ts";
import { refusePublicOnly } from "./public-only.ts";

export const oauthApplications = endpoints();

const ApplicationPath = z.object({ id: PathId });

const redirectUris = z
  .array(z.string().max(REDIRECT_URI_LENGTH_MAX).refine(isRedirectUri, REDIRECT_URI_RULE))
  .max(REDIRECT_URIS_MAX)
  .openapi({
    description:
      "The only addresses to which users are sent back. A public client may use any port of a registered loopback address.",
  });

const ApplicationBody = body({
  name: requiredText(256),
  redirect_uris: redirectUris,
  confidential_client: optionalFlag().openapi({
    description: "Whether the client can keep a secret; others must use PKCE",
  }),
  skip_secondary_authorization: optionalFlag().openapi({
    description: "Whether users who granted access once are not asked again",
  }),
}).openapi("CreateOAuth2ApplicationOptions");

oauthApplications.openapi(
  createRoute({
    method: "get",
    path: "/user/applications/oauth2",
    operationId: "userGetOauth2Application",
    tags: ["user"],
    summary: "List your OAuth2 applications",
    middleware: [signedIn("read:user")] as const,
    request: { query: Paging },
    responses: {
      200: page(z.array(OAuth2Application), "The applications, newest first, without secrets"),
      ...refusals(401, 403),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const items = await pageOf(
      c,
      c.req.valid("query"),
      (slice) => listApplications(ctx, user, slice),
      readPageOrAll,
    );
    return c.json(
      items.map((application) => toOAuth2Application(application)),
      200,
    );
  },
);

oauthApplications.openapi(
  createRoute({
    method: "post",
    path: "/user/applications/oauth2",
    operationId: "userCreateOAuth2Application",
    tags: ["user"],
    summary: "Create an OAuth2 application",
    description: "The client's secret is returned by this response only.",
    middleware: [signedIn("write:user")] as const,
    request: { body: { required: true, ...json(ApplicationBody, "The application") } },
    responses: {
      201: json(OAuth2Application, "The new application with its secret"),
      ...refusals(401, 403, 422),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const sent = c.req.valid("json");
    const { application, secret } = await createApplication(ctx, user, {
      name: sent.name,
      redirectUris: sent.redirect_uris,
      isConfidential: sent.confidential_client ?? false,
      skipsConsent: sent.skip_secondary_authorization ?? false,
    });
    return c.json(toOAuth2Application(application, secret), 201);
  },
);

oauthApplications.openapi(
  createRoute({
    method: "get",
    path: "/user/applications/oauth2/{id}",
    operationId: "userGetOAuth2Application",
    tags: ["user"],
    summary: "Get one of your OAuth2 applications",
    middleware: [signedIn("read:user")] as const,
    request: { params: ApplicationPath },
    responses: {
      200: json(OAuth2Application, "The application, without its secret"),
      ...refusals(401, 403, 404),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const application = await findApplication(ctx, user, c.req.valid("param").id);
    return c.json(toOAuth2Application(application), 200);
  },
);

oauthApplications.openapi(
  createRoute({
    method: "patch",
    path: "/user/applications/oauth2/{id}",
    operationId: "userUpdateOAuth2Application",
    tags: ["user"],
    summary: "Edit an OAuth2 application and renew its secret",
    description: "The client's new secret is returned by this response only; the old one ends.",
    middleware: [signedIn("write:user")] as const,
    request: {
      params: ApplicationPath,
      body: { required: true, ...json(ApplicationBody, "The changes") },
    },
    responses: {
      200: json(OAuth2Application, "The application with its new secret"),
      ...refusals(401, 403, 404, 422),
    },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    const sent = c.req.valid("json");
    const { application, secret } = await editApplication(ctx, user, c.req.valid("param").id, {
      name: sent.name,
      redirectUris: sent.redirect_uris,
      isConfidential: sent.confidential_client,
      skipsConsent: sent.skip_secondary_authorization,
    });
    return c.json(toOAuth2Application(application, secret), 200);
  },
);

oauthApplications.openapi(
  createRoute({
    method: "delete",
    path: "/user/applications/oauth2/{id}",
    operationId: "userDeleteOAuth2Application",
    tags: ["user"],
    summary: "Delete an OAuth2 application and all access that was granted to it",
    middleware: [signedIn("write:user")] as const,
    request: { params: ApplicationPath },
    responses: { 204: empty("The application was deleted"), ...refusals(401, 403, 404) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    refusePublicOnly(ctx.actor);
    await deleteApplication(ctx, user, c.req.valid("param").id);
    return c.body(null, 204);
  },
);
