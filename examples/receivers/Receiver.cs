// A receiver of outbound webhooks for .NET 6 or newer, or Mono 6, with nothing but the standard library.
//   mcs -r:System.Runtime.Serialization Receiver.cs && WEBHOOK_SECRET=whsec_… PORT=3000 INBOX=inbox mono Receiver.exe
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

[DataContract]
public class Delivery {
  [DataMember(Name = "status")] public string Status;
  [DataMember(Name = "sequence")] public long Sequence;
}
[DataContract]
public class Event {
  [DataMember(Name = "id")] public string Id;
  [DataMember(Name = "type")] public string Type;
  [DataMember(Name = "deliveryId")] public string DeliveryId;
  [DataMember(Name = "delivery")] public Delivery Delivery;
}

public static class Receiver {
  static readonly string Secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
  static readonly string Inbox = Environment.GetEnvironmentVariable("INBOX") ?? "inbox";
  const long ToleranceSeconds = 300;
  const int LongestBody = 1024 * 1024;

  static bool Same(string a, string b) {
    return CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(a), Encoding.UTF8.GetBytes(b));
  }
  static byte[] Mac(byte[] key, byte[] message) {
    using (var hmac = new HMACSHA256(key)) return hmac.ComputeHash(message);
  }

  // `body`: the bytes as they came. Both signatures must stand up; while a secret is rotated the old one still does.
  static bool Verified(Func<string, string> header, byte[] body) {
    var id = header("webhook-id");
    var time = header("webhook-timestamp");
    if (!Regex.IsMatch(id, @"\A[A-Za-z0-9_-]{1,64}\z") || !Regex.IsMatch(time, @"\A[0-9]{1,12}\z")) return false;
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(time)) > ToleranceSeconds) return false;
    var key = Convert.FromBase64String(Secret.Substring("whsec_".Length));
    var standard = "v1," + Convert.ToBase64String(Mac(key, Encoding.ASCII.GetBytes(id + "." + time + ".").Concat(body).ToArray()));
    var vendor = "sha256=" + string.Concat(Mac(Encoding.UTF8.GetBytes(Secret), body).Select(b => b.ToString("x2")));
    return header("webhook-signature").Split(' ').Any(sent => Same(sent, standard)) &&
      (Same(header("X-Vendor-Signature"), vendor) || Same(header("X-Vendor-Signature-Previous"), vendor) ||
       Same(header("X-Vendor-Signature-Older"), vendor));
  }

  // Keeps the event under its id; false: it is there already. A database does it with a unique key.
  static bool Keep(string id, byte[] body) {
    var kept = Path.Combine(Inbox, id + ".json");
    var draft = Path.Combine(Inbox, Guid.NewGuid() + ".draft");
    File.WriteAllBytes(draft, body);
    try {
      File.Move(draft, kept);  // refuses what is there
      return true;
    } catch (IOException) {
      File.Delete(draft);
      if (File.Exists(kept)) return false;
      throw;
    }
  }

  // Events of a delivery may overtake each other: an older one than the newest known changes nothing.
  static bool IsNews(Event e) {
    if (e.DeliveryId == null || e.Delivery == null) return true;  // of something else: look at its type
    var file = Path.Combine(Inbox, e.DeliveryId + ".sequence");
    var known = File.Exists(file) ? long.Parse(File.ReadAllText(file)) : 0;
    if (e.Delivery.Sequence <= known) return false;
    File.WriteAllText(file, e.Delivery.Sequence.ToString());
    return true;
  }

  // Handles the event after the answer was sent. Ignore types that you do not know.
  static void Work(byte[] body) {
    var e = (Event)new DataContractJsonSerializer(typeof(Event)).ReadObject(new MemoryStream(body));
    var status = e.Delivery == null ? "-" : e.Delivery.Status;
    Console.WriteLine(IsNews(e) ? e.Type + " " + (e.DeliveryId ?? "-") + " " + status : "old " + e.Id);
  }

  // The bytes, or null: there are too many.
  static byte[] Read(HttpListenerRequest request) {
    var bytes = new MemoryStream();
    var piece = new byte[16384];
    for (int got; (got = request.InputStream.Read(piece, 0, piece.Length)) > 0;) {
      if (bytes.Length + got > LongestBody) return null;
      bytes.Write(piece, 0, got);
    }
    return bytes.ToArray();
  }

  static void Answer(HttpListenerContext context, int status) {
    context.Response.StatusCode = status;
    context.Response.Close();
  }

  static void Receive(HttpListenerContext context) {
    if (context.Request.HttpMethod != "POST") { Answer(context, 405); return; }
    var body = Read(context.Request);
    if (body == null) { Answer(context, 413); return; }
    Func<string, string> header = name => context.Request.Headers[name] ?? "";
    if (!Verified(header, body)) { Answer(context, 401); return; }
    var fresh = Keep(header("webhook-id"), body);
    Answer(context, 200);  // it is kept: what follows may take its time
    if (fresh) Work(body);
    else Console.WriteLine("duplicate " + header("webhook-id"));
  }

  public static void Main() {
    Directory.CreateDirectory(Inbox);
    var listener = new HttpListener();
    var address = "http://127.0.0.1:" + (Environment.GetEnvironmentVariable("PORT") ?? "3000");
    listener.Prefixes.Add(address + "/");
    listener.Start();
    Console.WriteLine("listening on " + address);
    while (true) {
      var context = listener.GetContext();
      try {
        Receive(context);
      } catch (Exception e) {
        Console.Error.WriteLine(e);
        try { Answer(context, 500); } catch (Exception) { /* it was answered */ }  // not kept: the service sends it again
      }
    }
  }
}
