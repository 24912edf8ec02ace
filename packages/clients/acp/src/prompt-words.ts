/** Turns an editor's prompt blocks into a message to a session. */
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { usage } from "@lathe/config";
import {
  type Failure,
  type ImagePart,
  imageExcess,
  imageType,
  isFailure,
  maxImageBytes,
} from "@lathe/protocol";
import type { Words } from "@lathe/sessions";

export function promptWords(blocks: readonly ContentBlock[]): Words | Failure {
  const texts: string[] = [];
  const images: ImagePart[] = [];
  for (const block of blocks) {
    const part = partOf(block);
    if (isFailure(part)) return part;
    if (typeof part === "string") texts.push(part);
    else images.push(part);
  }
  const excess = imageExcess(images);
  if (excess !== undefined) return usage(excess);
  const text = texts.join("\n\n").trim();
  if (text === "" && images.length === 0) return usage("the prompt is empty: say what to do");
  return { text: text === "" ? "Look at this." : text, ...(images.length > 0 && { images }) };
}

function partOf(block: ContentBlock): string | ImagePart | Failure {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
      return imageOf(block.data);
    case "resource_link":
      return `@${pathOf(block.uri)}`;
    case "resource": {
      const { resource } = block;
      if (!("text" in resource))
        return usage(`${resource.uri} is not text: only texts and images can be sent`);
      return `# ${pathOf(resource.uri)}\n\n${resource.text}`;
    }
    case "audio":
      return usage("sound cannot be sent: only texts and images");
  }
}

function imageOf(base64: string): ImagePart | Failure {
  const bytes = Buffer.from(base64, "base64");
  const mediaType = imageType(bytes);
  if (mediaType === undefined) return usage("an image is neither png, jpeg, gif nor webp, or is cut off");
  if (bytes.length > maxImageBytes) {
    return usage(`an image has ${(bytes.length / 1e6).toFixed(1)} MB; ${maxImageBytes / 1e6} can be shown`);
  }
  return { type: "image", mediaType, base64: bytes.toString("base64") };
}

/** Turns a file URI into a path and leaves anything else unchanged. */
function pathOf(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
