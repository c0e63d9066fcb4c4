import { make, type TestUser } from "./make.ts";

/** Where hooks are that a test looks at. */
export interface HookPlace {
  /** Where the hooks are. */
  path: string;
  /** Another place of the same kind, or of another. */
  elsewhere: string;
  /** Who may set them up, and who may do so elsewhere. */
  admin: TestUser;
  /** Who may not, and what they get. */
  refused: { who: TestUser | undefined; status: number }[];
  row: object;
}

/** A fresh place of each kind. */
export const HOOK_PLACES: Record<string, () => Promise<HookPlace>> = {
  repository: async () => {
    const admin = await make.user();
    const [repo, other] = [await make.repo(admin), await make.repo(admin)];
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    return {
      path: `/repos/${admin.name}/${repo.name}/hooks`,
      elsewhere: `/repos/${admin.name}/${other.name}/hooks`,
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: writer, status: 403 },
        { who: await make.user(), status: 403 },
      ],
      row: { level: "repository", repoId: repo.id, ownerId: null },
    };
  },
  organization: async () => {
    const admin = await make.user();
    const [org, other] = [await make.org([admin]), await make.org([admin])];
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 3 }), member);
    return {
      path: `/orgs/${org.name}/hooks`,
      elsewhere: `/orgs/${other.name}/hooks`,
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: member, status: 403 },
        { who: await make.user(), status: 403 },
      ],
      row: { level: "organization", repoId: null, ownerId: org.id },
    };
  },
  user: async () => {
    const admin = await make.user();
    const org = await make.org([admin]);
    return {
      path: "/user/hooks",
      elsewhere: `/orgs/${org.name}/hooks`,
      admin,
      refused: [{ who: undefined, status: 401 }],
      row: { level: "user", repoId: null, ownerId: admin.id },
    };
  },
  service: async () => ({
    path: "/admin/hooks",
    elsewhere: "/user/hooks",
    admin: await make.admin(),
    refused: [
      { who: undefined, status: 401 },
      { who: await make.user(), status: 403 },
    ],
    row: { level: "default", repoId: null, ownerId: null },
  }),
};
