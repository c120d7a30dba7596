// The name of the cloud platform, which the service is configured with. Texts have it as {cloud}, and as {Cloud} at their beginning.
export const names = { cloud: '', Cloud: '' };

export function nameCloud(name: string) {
  names.cloud = name;
  names.Cloud = name.replace(/^the /, 'The ');
}
nameCloud('the cloud platform');
