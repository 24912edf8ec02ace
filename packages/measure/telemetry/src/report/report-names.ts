/** Report names: names of folders in a report: a meaningless word for each, or the real names on request. */
import { createHash } from "node:crypto";
import { basename } from "node:path";

export interface ReportNames {
  readonly projectName: (folder: string) => string;
  readonly folderName: (project: string, folder: string) => string;
}

export function reportNames(withNames: boolean): ReportNames {
  if (withNames) {
    return {
      projectName: (folder) => basename(folder) || folder,
      folderName: (project, folder) => `${basename(project)}/${folder === "." ? "" : folder}`,
    };
  }
  return {
    projectName: (folder) => `project-${tag(folder)}`,
    folderName: (project, folder) =>
      `project-${tag(project)}/${folder === "." ? "" : tag(`${project}\n${folder}`)}`,
  };
}

function tag(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 6);
}
