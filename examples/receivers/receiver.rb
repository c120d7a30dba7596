# A receiver of outbound webhooks for Ruby 3, with WEBrick (`gem install webrick`; in Debian's package `ruby` already).
#   WEBHOOK_SECRET=whsec_… PORT=3000 INBOX=inbox ruby receiver.rb
require 'fileutils'
require 'json'
require 'openssl'
require 'webrick'

SECRET = ENV.fetch('WEBHOOK_SECRET')
INBOX = ENV.fetch('INBOX', 'inbox')
TOLERANCE_S = 300
LONGEST_BODY = 1024 * 1024
FileUtils.mkdir_p(INBOX)
ONE_AT_A_TIME = Mutex.new
$stdout.sync = true

# `body`: the bytes as they came. Both signatures must stand up; while a secret is rotated the old one still does.
def verified?(request, body)
  id = request['webhook-id'].to_s
  time = request['webhook-timestamp'].to_s
  return false unless id.match?(/\A[A-Za-z0-9_-]{1,64}\z/) && time.match?(/\A[0-9]{1,12}\z/)
  return false if (Time.now.to_i - time.to_i).abs > TOLERANCE_S

  key = SECRET.delete_prefix('whsec_').unpack1('m0')
  standard = "v1,#{[OpenSSL::HMAC.digest('SHA256', key, "#{id}.#{time}.".b + body)].pack('m0')}"
  vendor = "sha256=#{OpenSSL::HMAC.hexdigest('SHA256', SECRET, body)}"
  request['webhook-signature'].to_s.split.any? { |sent| OpenSSL.secure_compare(sent, standard) } &&
    ['', '-previous', '-older'].any? { |which| OpenSSL.secure_compare(request["x-vendor-signature#{which}"].to_s, vendor) }
end

# Keeps the event under its id; false: it is there already. A database does it with a unique key.
def keep?(id, body)
  draft = File.join(INBOX, "#{id}.#{Process.pid}.#{Thread.current.object_id}.draft")
  File.binwrite(draft, body)
  File.link(draft, File.join(INBOX, "#{id}.json"))
  true
rescue Errno::EEXIST
  false
ensure
  File.unlink(draft)
end

# Events of a delivery may overtake each other: an older one than the newest known changes nothing.
def news?(event)
  return true unless event['deliveryId'] && event['delivery'] # of something else: look at its type

  file = File.join(INBOX, "#{event['deliveryId']}.sequence")
  known = File.exist?(file) ? File.read(file).to_i : 0
  sequence = event['delivery']['sequence']
  return false if sequence <= known

  File.write("#{file}.draft", sequence)
  File.rename("#{file}.draft", file)
  true
end

# What your shop does with it: put it on a queue where it takes long. Ignore types that you do not know.
def work(event)
  status = event.dig('delivery', 'status') || '-'
  puts(news?(event) ? "#{event['type']} #{event['deliveryId'] || '-'} #{status}" : "old #{event['id']}")
end

class Receiver < WEBrick::HTTPServlet::AbstractServlet
  def do_GET(_request, response)
    response.status = 405
  end

  def do_POST(request, response)
    return response.status = 413 if request['content-length'].to_i > LONGEST_BODY

    body = request.body.to_s.b
    return response.status = 401 unless verified?(request, body)

    id = request['webhook-id']
    fresh = keep?(id, body)
    ONE_AT_A_TIME.synchronize { fresh ? work(JSON.parse(body)) : puts("duplicate #{id}") }
    response.status = 200
  end
end

port = ENV.fetch('PORT', '3000').to_i
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: port,
                                 StartCallback: -> { puts("listening on http://127.0.0.1:#{port}") },
                                 Logger: WEBrick::Log.new($stderr, WEBrick::Log::FATAL), AccessLog: [])
server.mount('/', Receiver)
%w[INT TERM].each { |signal| trap(signal) { server.shutdown } }
server.start
